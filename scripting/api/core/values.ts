// Values between a script and the page; automation/page/serialize.ts tags them.

import { parse, serialize, type Tagged } from '../../../automation/page/serialize.ts';
import { host } from './host.ts';
import { sourceText } from './sources.ts';

/** A handle, or any object with the id of one. */
export interface HandleLike { _handle: string }

const handles = new WeakSet<object>();

/** Marks an object that is sent to the page by its id. */
export function markHandle(handle: HandleLike): void { handles.add(handle); }

/** Converts an argument of an operation. `special` converts further values to handles. */
export function argument(value: unknown, special?: (v: unknown) => string | undefined): { value: Tagged; handles: string[] } {
  const ids: string[] = [];
  const tagged = serialize(value, v => {
    const id = special?.(v);
    if (id !== undefined)
      return ids.push(id) - 1;
    if (typeof v === 'object' && v !== null && handles.has(v))
      return ids.push((v as HandleLike)._handle) - 1;
    return undefined;
  });
  return { value: tagged, handles: ids };
}

/** Returns the value in an operation's answer. */
export function result(answer: { value: Tagged }): unknown { return parse(answer.value); }

/** Converts a function or expression of the script, with its argument, for the page. */
export function expression(code: unknown, arg: unknown): { expression: string; isFunction: boolean; arg: object } {
  return withArgument(code, argument(arg));
}

/** Does the same with an argument that is already converted. */
export function withArgument(code: unknown, arg: object): { expression: string; isFunction: boolean; arg: object } {
  const isFunction = typeof code === 'function';
  return { expression: isFunction ? sourceText(code) : String(code), isFunction, arg };
}

/** Rejects a call with too many arguments, or with a wrong value in the place of options. */
export function onlyOne(given: ArrayLike<unknown>, most: number, options?: unknown): Promise<never> | undefined {
  if (given.length > most || options !== undefined && (typeof options !== 'object' || options === null || Array.isArray(options)))
    return Promise.reject(new Error('Too many arguments. If you need to pass more than 1 argument to the function wrap them in an object.'));
  return undefined;
}

/** Decodes base64 to a Buffer, as Playwright returns it. */
export function buffer(base64: string): unknown {
  const bytes = host.fromBase64(base64) ?? new ArrayBuffer(0);
  const { Buffer } = globalThis as unknown as { Buffer: { from(b: ArrayBuffer): unknown } };
  return Buffer.from(bytes);
}

/** Decodes bytes of UTF-8. */
export function utf8(bytes: Uint8Array): string {
  return host.decode(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteOffset + bytes.byteLength, false);
}

/** Encodes bytes as base64. */
export function base64(data: Uint8Array): string {
  return host.toBase64(data.buffer as ArrayBuffer, data.byteOffset, data.byteOffset + data.byteLength);
}

/** Returns the type of a value, for error messages. */
export function typeName(value: unknown): string { return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value; }

/** Refuses a value that is not a string, in Playwright's words. */
export function text(name: string, value: unknown): string {
  if (typeof value !== 'string')
    throw new Error(`${name}: expected string, got ${value === null ? 'null' : typeof value}`);
  return value;
}
