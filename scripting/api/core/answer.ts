// The result of a script as JSON.

import { inspect } from '../node/inspect.ts';
import { mended } from './wording.ts';
import { host } from './host.ts';

const { stringify } = JSON;
const isView = ArrayBuffer.isView;

/** Encodes any value as JSON. Values that JSON cannot express become text; bytes become base64. */
export function answerOf(value: unknown): string | undefined {
  if (value === undefined)
    return undefined;
  const parents: object[] = [];
  const text = stringify(value, function (this: object, _key: string, item: unknown) {
    // Use the Buffer itself, not the result of its toJSON.
    const raw = (this as Record<string, unknown>)[_key];
    if (typeof raw === 'object' && raw !== null && isView(raw))
      return host.toBase64(raw.buffer as ArrayBuffer, raw.byteOffset, raw.byteOffset + raw.byteLength);
    switch (typeof item) {
      case 'bigint': return String(item);
      case 'function':
      case 'symbol': return inspect(item);
      case 'number': return Number.isFinite(item) ? item : String(item);
    }
    if (typeof item !== 'object' || item === null)
      return item;
    while (parents.length && parents[parents.length - 1] !== this)
      parents.pop();
    if (parents.includes(item))
      return '[Circular]';
    if (item instanceof Promise)
      return inspect(item);
    if (item instanceof Error)
      return Object.assign({ name: item.name, message: mended(item).message }, item);
    const plain = item instanceof Map ? Object.fromEntries(item) : item instanceof Set ? [...item] : item;
    parents.push(plain as object);
    return plain;
  });
  return text ?? 'null';
}
