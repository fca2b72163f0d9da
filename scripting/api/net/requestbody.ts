// The URL and the body of a script's request.

import { refuse } from '../core/errors.ts';
import type { Header } from './headers.ts';
import { formBytes, isBuffer, multipart, utf8, type Field } from './payload.ts';
import type { FetchOptions, RequestLike } from './request.ts';
import { quote } from '../core/selectors.ts';

/** Returns the complete URL of a request, with its parameters. */
export function absoluteURL(url: string, base: string | undefined, params: FetchOptions['params']): string {
  let full: URL;
  try {
    full = new URL(url, base || undefined);
  } catch {
    throw new TypeError('Invalid URL');
  }
  if (params === undefined || params === null)
    return full.href;
  if (typeof params === 'object' && !('append' in params)) {
    for (const [name, value] of Object.entries(params)) {
      if (value !== undefined)
        full.searchParams.append(name, String(value));
    }
    return full.href;
  }
  const encoded = String(params).replace(/^\?/, '');
  if (encoded)
    full.search = full.search ? `${full.search}&${encoded}` : encoded;
  return full.href;
}

function hasJSONType(headers: Header[]): boolean {
  const type = headers.find(h => h.name.toLowerCase() === 'content-type');
  return type?.value.split(';')[0]!.trim().toLowerCase() === 'application/json';
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The content of a body, if there is one, and its type. */
export interface Payload { body?: Uint8Array; contentType?: string }

/** Converts the options to a body and its content type. A header may override that type. */
export async function payload(o: FetchOptions, headers: Header[], request: RequestLike | undefined): Promise<Payload> {
  const json = (text: string) => ({ body: utf8(text), contentType: 'application/json' });
  const { data } = o;
  if (data !== undefined) {
    if (typeof data === 'string') {
      if (hasJSONType(headers))
        return json(isJSON(data) ? data : JSON.stringify(data));
      return { body: utf8(data), contentType: 'application/octet-stream' };
    }
    if (isBuffer(data))
      return { body: data, contentType: 'application/octet-stream' };
    if (typeof data === 'object' || typeof data === 'number' || typeof data === 'boolean')
      return json(JSON.stringify(data));
    throw new Error(`Unexpected 'data' type`);
  }
  if (o.form)
    return { body: formBytes(o.form), contentType: 'application/x-www-form-urlencoded' };
  if (o.multipart)
    return multipart(await fields(o.multipart));
  const posted = request?.postDataBuffer();
  return isBuffer(posted) ? { body: posted, contentType: 'application/octet-stream' } : {};
}

async function fields(form: object): Promise<Field[]> {
  const entries = 'append' in form && 'entries' in form ? [...(form as FormData).entries()] : Object.entries(form) as [string, unknown][];
  const out: Field[] = [];
  for (const [name, value] of entries) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      out.push({ name, value: String(value) });
    } else if (typeof (value as Blob)?.arrayBuffer === 'function') {
      const file = value as File;
      out.push({ name, file: { name: file.name, mimeType: file.type, buffer: new Uint8Array(await file.arrayBuffer()) } });
    } else {
      const file = value as { name?: string; mimeType?: string; buffer?: unknown } | null | undefined;
      if (!file?.name || !file.mimeType || !file.buffer)
        return refuse(`options.multipart[${quote(name)}]`, 'scripts have no streams of files; pass { name, mimeType, buffer }');
      if (!isBuffer(file.buffer))
        throw new Error(`Unexpected buffer type of 'data.${name}'`);
      out.push({ name, file: { name: file.name, mimeType: file.mimeType, buffer: file.buffer } });
    }
  }
  return out;
}
