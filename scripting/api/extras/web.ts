// fetch and its classes.

export { Blob, fetch, File, FormData, Headers, Request, Response } from '../node/web.ts';
