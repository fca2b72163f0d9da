declare const DEVICES: string;

/** Playwright's device descriptors as JSON, because a text loads faster than an object. */
export const devices = DEVICES;
