// What goes with fetch.

export { Blob, fetch, File, FormData, Headers, Request, Response } from '../node/web.ts';
