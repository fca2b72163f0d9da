// Request bodies, as bytes.

import { host } from '../core/host.ts';

/** A field of a form. A file has a name and a type. */
export interface Field {
  name: string;
  value?: string;
  file?: { name: string; mimeType?: string; buffer: Uint8Array };
}

/** Encodes text as UTF-8. */
export function utf8(text: string): Uint8Array { return new Uint8Array(host.encode(text)); }

/** Returns whether a value is a Buffer, without loading Buffer. */
export function isBuffer(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && !!(value as Uint8Array & { _isBuffer?: boolean })._isBuffer;
}

/** Encodes a form as application/x-www-form-urlencoded. */
export function formBytes(form: object): Uint8Array {
  const params = new URLSearchParams();
  const isForm = 'append' in form && 'entries' in form;
  for (const [name, value] of isForm ? (form as FormData).entries() : Object.entries(form)) {
    if (isForm && typeof value !== 'string')
      throw new Error(`Expected string for options.form["${name}"], found File. Please use options.multipart instead.`);
    if (value !== undefined)
      params.append(name, String(value));
  }
  return utf8(params.toString());
}

const boundaryLength = 16;
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789AB'; // 64 of them

// Quotes a name as the HTML standard prescribes for multipart/form-data.
function quoted(name: string): string {
  return `"${name.replace(/\r\n?|\n/g, '%0D%0A').replace(/"/g, '%22')}"`;
}

/** Encodes a form as multipart/form-data, and returns its content type, too. */
export function multipart(fields: readonly Field[]): { body: Uint8Array; contentType: string } {
  const random = Array.from(new Uint8Array(host.random(boundaryLength)), b => letters[b & 63]).join('');
  const boundary = `----WebKitFormBoundary${random}`;
  const parts: Uint8Array[] = [];
  for (const { name, value, file } of fields) {
    let head = `--${boundary}\r\ncontent-disposition: form-data; name=${quoted(name)}`;
    if (file)
      head += `; filename=${quoted(file.name)}\r\ncontent-type: ${file.mimeType || 'application/octet-stream'}`;
    parts.push(utf8(`${head}\r\n\r\n`), file ? file.buffer : utf8(value ?? ''), utf8('\r\n'));
  }
  parts.push(utf8(`--${boundary}--\r\n`));
  return { body: concat(parts), contentType: `multipart/form-data; boundary=${boundary}` };
}

/** Joins bytes, one part after the other. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}
