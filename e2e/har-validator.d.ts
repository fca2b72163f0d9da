/** It comes without types. Each function resolves for a valid HAR, and rejects otherwise. */
declare module 'har-validator';
