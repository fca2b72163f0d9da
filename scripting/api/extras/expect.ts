// Playwright's expect.

export { expect, mergeExpects } from '../expect.ts';
