import { AbortController, AbortSignal, CustomEvent, DOMException, Event, EventTarget } from './abort.ts';
import { console } from './console.ts';
import { TextDecoder, TextEncoder } from './encoding.ts';
import { refuse } from '../core/errors.ts';
import { host } from '../core/host.ts';
import { installRegExp } from './regexp.ts';
import { timers } from './timers.ts';

/** Defines the globals of scripts, except Playwright's. */
export function installGlobals(): void {
  installRegExp();
  define({
    console,
    ...timers,
    global: globalThis,
    queueMicrotask,
    TextEncoder, TextDecoder,
    atob, btoa,
    AbortController, AbortSignal, CustomEvent, DOMException, Event, EventTarget,
    performance: {
      now: () => host.now(), timeOrigin: Date.now() - host.now(), mark: entry('mark'), measure: entry('measure'), clearMarks() {}, clearMeasures() {},
      getEntries: () => [], getEntriesByName: () => [], getEntriesByType: () => [], toJSON() { return {}; },
    },
    crypto: { randomUUID, getRandomValues, get subtle() { return refuse('crypto.subtle', 'use it in the page, with page.evaluate()'); } },
  });
  for (const [bundle, names] of Object.entries(onDemand))
    names.forEach(name => lazily(name, () => load(bundle)[name]));
  localize();
}

/** Defines globals that a script may replace or shadow. */
export function define(values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

/** Rarely used globals, by the bundle that contains them (folder extras). */
const onDemand: Record<string, string[]> = {
  url: ['URL', 'URLSearchParams'],
  buffer: ['Buffer'],
  clone: ['structuredClone'],
  intl: ['Intl'],
  web: ['fetch', 'Headers', 'Request', 'Response', 'FormData', 'Blob', 'File'],
};

// Loads a bundle when it is first used. While a bundle loads, its own globals are missing.
function load(bundle: string): Record<string, unknown> {
  const pending = onDemand[bundle]!.filter(name => Object.getOwnPropertyDescriptor(globalThis, name)?.get);
  for (const name of pending)
    delete (globalThis as Record<string, unknown>)[name];
  const extras = host.extras(bundle);
  define(Object.fromEntries(pending.map(name => [name, extras[name]])));
  return extras;
}

/** Defines a global whose value is computed when it is first used. */
export function lazily(name: string, get: () => unknown): void {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable: false,
    get,
    set(value: unknown) { define({ [name]: value }); },
  });
}

/** Methods that need Intl, which goja's own versions do not use. */
const localized: Record<string, string[]> = {
  Number: ['toLocaleString'], BigInt: ['toLocaleString'], String: ['localeCompare'], Array: ['toLocaleString'],
  Date: ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'],
};

type Methods = Record<string, Record<string, (...args: unknown[]) => unknown>>;

function localize(): void {
  let methods: Methods | undefined;
  for (const [name, members] of Object.entries(localized)) {
    const { prototype } = (globalThis as unknown as Record<string, { prototype: object }>)[name]!;
    for (const member of members) {
      const value = { [member](this: unknown, ...args: unknown[]) {
        methods ??= host.extras('intl')['methods'] as Methods;
        return methods[name]![member]!.apply(this, args);
      } }[member];
      Object.defineProperty(prototype, member, { value, writable: true, configurable: true, enumerable: false });
    }
  }
}

function queueMicrotask(f: () => void): void {
  if (typeof f !== 'function')
    throw new TypeError('The "callback" argument must be of type function');
  void Promise.resolve().then(f);
}

function entry(entryType: string): (name: string) => object {
  return name => ({ name, entryType, startTime: host.now(), duration: 0 });
}

function atob(text: string): string {
  const bytes = host.fromBase64(String(text));
  if (bytes === null || /[-_]/.test(text))
    throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
  let out = '';
  for (const b of new Uint8Array(bytes))
    out += String.fromCharCode(b);
  return out;
}

function btoa(value: string): string {
  const text = String(value);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c > 255)
      throw new DOMException('Invalid character', 'InvalidCharacterError');
    bytes[i] = c;
  }
  return host.toBase64(bytes.buffer, 0, bytes.length);
}

function randomUUID(): string {
  const b = new Uint8Array(host.random(16));
  b[6] = b[6]! & 0x0f | 0x40; // version 4, RFC 9562
  b[8] = b[8]! & 0x3f | 0x80;
  const hex = Array.from(b, x => x.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function getRandomValues<T extends ArrayBufferView>(array: T): T {
  if (array.byteLength > 65536)
    throw new DOMException(`The requested length exceeds 65,536 bytes`, 'QuotaExceededError');
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(new Uint8Array(host.random(array.byteLength)));
  return array;
}
