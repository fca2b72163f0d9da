/**
 * Converts values between a script and a page.
 *
 * Both sides use the same tagged JSON: a value that JSON cannot express (undefined, NaN, dates, cycles, handles …) becomes an object with one special
 * key. The module runs in the script's goja runtime and in every page, so it uses plain ECMAScript only, without the DOM, Node or a bundler. When it
 * is loaded, it saves the built-ins that a page may replace later.
 */

/** A value on the wire. */
export type Tagged =
  | { n: number } | { s: string } | { b: boolean }
  | { v: 'undefined' | 'null' | 'NaN' | 'Infinity' | '-Infinity' | '-0' }
  | { a: Tagged[]; id: number }
  | { o: { k: string; v: Tagged }[]; id: number }
  | { ref: number }
  | { d: string } | { u: string } | { bi: string }
  | { r: { p: string; f: string } }
  | { e: { n: string; m: string; s: string } }
  | { ta: { k: ArrayKind; b: string } }
  | { ab: string }
  | { h: number };

/** An argument of an operation: the value, and the handles that it refers to by index. */
export interface TaggedArgument { value: Tagged; handles: string[] }

/** Converts a value that is not plain data to the index of a handle or to a tagged value. Returns undefined to leave it to the serializer. */
export type Special = (value: unknown) => number | Tagged | undefined;

export interface SerializeOptions {
  /**
   * What to do with a function: 'refuse' throws an error that says where the function is (for a script's argument); 'undefined' sends undefined (for
   * a page's result). Default 'refuse'.
   */
  functions?: 'refuse' | 'undefined';
}

type ArrayKind = 'i8' | 'ui8' | 'ui8c' | 'i16' | 'ui16' | 'i32' | 'ui32' | 'f32' | 'f64' | 'bi64' | 'bui64';

const toStringOf = Object.prototype.toString;
const keysOf = Object.keys;
const protoOf = Object.getPrototypeOf;
const isArray = Array.isArray;
const isView = ArrayBuffer.isView;
const define = Object.defineProperty;
const { Map: SafeMap, Error: SafeError, Date: SafeDate, RegExp: SafeRegExp, BigInt: SafeBigInt, Uint8Array: Bytes, ArrayBuffer: Buf } = globalThis;

const kindByTag: Record<string, ArrayKind> = {
  '[object Int8Array]': 'i8', '[object Uint8Array]': 'ui8', '[object Uint8ClampedArray]': 'ui8c',
  '[object Int16Array]': 'i16', '[object Uint16Array]': 'ui16', '[object Int32Array]': 'i32', '[object Uint32Array]': 'ui32',
  '[object Float32Array]': 'f32', '[object Float64Array]': 'f64',
  '[object BigInt64Array]': 'bi64', '[object BigUint64Array]': 'bui64',
};

// goja may lack some of these; a kind without a class is parsed as bytes.
const classByKind: Record<string, (new (b: ArrayBuffer) => unknown) | undefined> = {
  i8: Int8Array, ui8: Uint8Array, ui8c: Uint8ClampedArray, i16: Int16Array, ui16: Uint16Array, i32: Int32Array, ui32: Uint32Array,
  f32: Float32Array, f64: Float64Array,
  bi64: typeof BigInt64Array === 'undefined' ? undefined : BigInt64Array,
  bui64: typeof BigUint64Array === 'undefined' ? undefined : BigUint64Array,
};

/** Tags a value. Throws only on a function, and only if functions are refused. */
export function serialize(value: unknown, special?: Special, options: SerializeOptions = {}): Tagged {
  const seen = new SafeMap<object, number>();
  const lenient = options.functions === 'undefined';
  let lastId = 0;

  function visit(value: unknown, path: (string | number)[]): Tagged {
    if (special) {
      const s = special(value);
      if (typeof s === 'number')
        return { h: s };
      if (s !== undefined)
        return s;
    }
    switch (typeof value) {
      case 'string': return { s: value };
      case 'boolean': return { b: value };
      case 'number': return tagNumber(value);
      case 'bigint': return { bi: `${value}` };
      case 'undefined':
      case 'symbol': return { v: 'undefined' };
      case 'function':
        if (lenient)
          return { v: 'undefined' };
        throw new SafeError(`Attempting to serialize unexpected value${position(path)}: ${String(value)}`);
    }
    if (value === null)
      return { v: 'null' };
    return visitObject(value as object, path);
  }

  function visitObject(value: object, path: (string | number)[]): Tagged {
    const tag: string = toStringOf.call(value);
    if (isError(value, tag)) {
      const { name, message, stack } = value;
      return { e: { n: `${name}`, m: `${message}`, s: `${stack || ''}` } };
    }
    if (tag === '[object Date]')
      return { d: (value as Date).toJSON() as string | null ?? '' };
    if (tag === '[object URL]' && 'href' in value)
      return { u: `${value.href}` };
    if (tag === '[object RegExp]')
      return { r: { p: (value as RegExp).source, f: (value as RegExp).flags } };
    if (isView(value) && kindByTag[tag])
      return { ta: { k: kindByTag[tag], b: toBase64(new Bytes(value.buffer, value.byteOffset, value.byteLength)) } };
    if (tag === '[object ArrayBuffer]')
      return { ab: toBase64(new Bytes(value as ArrayBuffer)) };

    const known = seen.get(value);
    if (known)
      return { ref: known };
    const id = ++lastId;
    seen.set(value, id);
    if (isArray(value)) {
      const a: Tagged[] = [];
      for (let i = 0; i < value.length; i++)
        put(a, visit(value[i], [...path, i]));
      return { a, id };
    }
    const o: { k: string; v: Tagged }[] = [];
    for (const k of keysOf(value)) {
      let item: unknown;
      try {
        item = (value as Record<string, unknown>)[k];
      } catch {
        continue; // a getter that throws has no value to send
      }
      if (k === 'toJSON' && typeof item === 'function')
        put(o, { k, v: { o: [], id: 0 } });
      else
        put(o, { k, v: visit(item, [...path, k]) });
    }
    if (!o.length) {
      const plain = viaToJSON(value);
      if (plain)
        return visit(plain.value, path);
    }
    return { o, id };
  }

  return visit(value, []);
}

/** Rebuilds a tagged value. handles are the targets of `{h}`. */
export function parse(tagged: Tagged | undefined, handles: readonly unknown[] = []): unknown {
  const seen = new SafeMap<number, unknown>();

  function visit(t: Tagged): unknown {
    if ('s' in t) return t.s;
    if ('n' in t) return t.n;
    if ('b' in t) return t.b;
    if ('v' in t) {
      switch (t.v) {
        case 'null': return null;
        case 'NaN': return NaN;
        case 'Infinity': return Infinity;
        case '-Infinity': return -Infinity;
        case '-0': return -0;
        default: return undefined;
      }
    }
    if ('o' in t) {
      const out: Record<string, unknown> = {};
      seen.set(t.id, out);
      for (let i = 0; i < t.o.length; i++) {
        const { k, v } = t.o[i]!;
        const value = visit(v);
        if (k !== '__proto__') // assigning it would change the object's prototype
          out[k] = value;
      }
      return out;
    }
    if ('a' in t) {
      const out: unknown[] = [];
      seen.set(t.id, out);
      for (let i = 0; i < t.a.length; i++)
        put(out, visit(t.a[i]!));
      return out;
    }
    if ('ref' in t) return seen.get(t.ref);
    if ('h' in t) {
      if (t.h >= handles.length)
        throw new SafeError('Unexpected handle');
      return handles[t.h];
    }
    if ('d' in t) return new SafeDate(t.d);
    if ('u' in t) return typeof URL === 'function' ? new URL(t.u) : t.u;
    if ('bi' in t) return SafeBigInt(t.bi);
    if ('r' in t) return new SafeRegExp(t.r.p, t.r.f);
    if ('e' in t) {
      const error = new SafeError(t.e.m);
      error.name = t.e.n;
      error.stack = t.e.s;
      return error;
    }
    if ('ta' in t) {
      const bytes = fromBase64(t.ta.b);
      const kind = classByKind[t.ta.k];
      return kind ? new kind(bytes.buffer as ArrayBuffer) : bytes;
    }
    if ('ab' in t) return fromBase64(t.ab).buffer;
    throw new SafeError('Attempting to deserialize unexpected value');
  }

  return tagged === undefined ? undefined : visit(tagged);
}

function tagNumber(n: number): Tagged {
  if (n !== n) return { v: 'NaN' };
  if (n === Infinity) return { v: 'Infinity' };
  if (n === -Infinity) return { v: '-Infinity' };
  if (n === 0 && 1 / n < 0) return { v: '-0' };
  return { n };
}

/** Appends without push, and without triggering a setter that a page may have put on Array.prototype. */
function put<T>(list: T[], item: T): void {
  define(list, list.length, { value: item, writable: true, enumerable: true, configurable: true });
}

// Returns whether a value is an error: by tag, so that errors of another realm count, and by prototype, so that subclasses of Error count whatever
// their tag is.
function isError(value: object, tag: string): value is Error {
  if (tag === '[object Error]' || tag === '[object DOMException]')
    return true;
  for (let p = protoOf(value) as object | null; p; p = protoOf(p) as object | null) {
    if (p === SafeError.prototype)
      return true;
  }
  return false;
}

// Calls toJSON of an object that has no own keys, such as a DOMRect, if there is one.
function viaToJSON(value: object): { value: unknown } | undefined {
  try {
    const toJSON = (value as { toJSON?: unknown }).toJSON;
    return typeof toJSON === 'function' ? { value: toJSON.call(value) } : undefined;
  } catch {
    return undefined;
  }
}

function position(path: (string | number)[]): string {
  let out = '';
  for (let i = 0; i < path.length; i++) {
    const p = path[i]!;
    out += typeof p === 'number' ? `[${p}]` : i ? `.${p}` : p;
  }
  return out && ` at position "${out}"`;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'; // RFC 4648, section 4

/** Encodes bytes as base64 with padding (RFC 4648). */
export function toBase64(bytes: Uint8Array): string {
  let out = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const b0 = bytes[i]!, b1 = bytes[i + 1], b2 = bytes[i + 2];
    out += alphabet[b0 >> 2]! + alphabet[(b0 & 3) << 4 | (b1 ?? 0) >> 4]!
      + (b1 === undefined ? '=' : alphabet[(b1 & 15) << 2 | (b2 ?? 0) >> 6]!)
      + (b2 === undefined ? '=' : alphabet[b2 & 63]!);
  }
  return out;
}

/** Decodes base64 text; characters outside the alphabet are skipped. */
export function fromBase64(text: string): Uint8Array {
  const out = new Bytes(new Buf(Math.floor(text.replace(/[^A-Za-z0-9+/]/g, '').length * 3 / 4)));
  let bits = 0, held = 0, at = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const v = c >= 97 && c <= 122 ? c - 71 : c >= 65 && c <= 90 ? c - 65 : c >= 48 && c <= 57 ? c + 4 : c === 43 ? 62 : c === 47 ? 63 : -1;
    if (v < 0)
      continue;
    held = (held << 6 | v) & 0xfffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[at++] = held >> bits & 255;
    }
  }
  return out;
}
