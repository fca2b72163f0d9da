declare const DEVICES: string;

/** Playwright's device descriptors, as JSON: a text is loaded quicker than an object. */
export const devices = DEVICES;
