// Playwright's expect.

export { expect, mergeExpects } from '../expect/expect.ts';
