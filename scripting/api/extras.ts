// The second bundle: globals from npm that are loaded when a script first uses
// one of them.

import 'core-js/modules/web.url.js';
import 'core-js/modules/web.url.can-parse.js';
import 'core-js/modules/web.url.parse.js';
import 'core-js/modules/web.url.to-json.js';
import 'core-js/modules/web.url-search-params.js';
import 'core-js/modules/web.url-search-params.delete.js';
import 'core-js/modules/web.url-search-params.has.js';
import 'core-js/modules/web.url-search-params.size.js';
import 'core-js/modules/web.structured-clone.js';
import { Buffer as BufferClass } from 'buffer/';

const g = globalThis as unknown as Record<string, unknown>;
export const { URL, URLSearchParams, structuredClone } = g;
export const Buffer: unknown = BufferClass;
export { Blob, fetch, File, FormData, Headers, Request, Response } from './web.ts';
