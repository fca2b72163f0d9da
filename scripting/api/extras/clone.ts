// structuredClone, from npm.

import 'core-js/modules/web.structured-clone.js';

export const { structuredClone } = globalThis;
