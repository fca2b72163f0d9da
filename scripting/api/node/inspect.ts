// Formats values for the console, like Node's util.inspect.

import { host } from '../core/host.ts';
import { columns, lines, type Layout } from '../core/layout.ts';
import { worded } from '../core/wording.ts';

/** Default number of shown levels of nested objects. */
const defaultDepth = 2;
const itemLimit = 100;
const keyLimit = 1000;
const byteLimit = 50;
const stringLimit = 10_000;
/** A string with line breaks is split when the output line that holds it would exceed this many columns. */
const breakLength = 80;
/** Strings that are not longer than this are never split. */
const minBreak = 16;

/** Formats a value as text. A string at the top level is shown unchanged. `depth` is the number of levels that are shown. */
export function inspect(value: unknown, depth: number = defaultDepth): string {
  return typeof value === 'string' ? value : new Inspector(depth).show(value, 0);
}

/** Formats the arguments of a console call as one string, and fills in %s and other placeholders. */
export function format(args: readonly unknown[]): string {
  const [first, ...rest] = args;
  if (typeof first !== 'string' || !rest.length || !first.includes('%'))
    return args.map(a => inspect(a)).join(' ');
  const text = first.replace(/%([sdifjoOc%])/g, (all, kind: string) => {
    if (kind === '%')
      return '%';
    if (!rest.length)
      return all;
    const value = rest.shift();
    switch (kind) {
      case 's': return asString(value);
      case 'd': return typeof value === 'bigint' ? `${value}n` : String(isObjectOrSymbol(value) ? NaN : Number(value));
      case 'i': return typeof value === 'bigint' ? `${value}n` : String(isObjectOrSymbol(value) ? NaN : parseInt(String(value), 10));
      case 'f': return String(typeof value === 'symbol' ? NaN : parseFloat(String(value)));
      case 'j': return asJSON(value);
      case 'c': return '';
      default: return new Inspector(kind === 'o' ? 4 : defaultDepth).show(value, 0);
    }
  });
  return [text, ...rest.map(a => inspect(a))].join(' ');
}

const isObjectOrSymbol = (v: unknown) => typeof v === 'symbol' || typeof v === 'object' && v !== null;

function asString(value: unknown): string {
  if (typeof value === 'bigint' || Object.is(value, -0))
    return new Inspector(0).show(value, 0);
  if (typeof value !== 'object' || value === null || value instanceof Error)
    return value instanceof Error ? inspect(value) : String(value);
  const own = className(value) && value.toString !== Object.prototype.toString && !Array.isArray(value);
  return own ? String(value) : new Inspector(0).show(value, 0);
}

function asJSON(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (e) {
    if (/circular/i.test(String(e)))
      return '[Circular]';
    throw e;
  }
}

type Fields = Record<PropertyKey, unknown>;

/** The state of one call: the enclosing objects, and circular references. */
class Inspector {
  readonly #parents: object[] = [];
  readonly #circular = new Map<object, number>();
  readonly #layout: Layout = { indent: 0, deepest: 0 };

  constructor(private readonly depth: number) {}

  show(value: unknown, depth: number, typed = false): string {
    switch (typeof value) {
      case 'string': return this.#string(value);
      case 'bigint': return `${value}n`;
      case 'symbol': return String(value);
      case 'number': return Object.is(value, -0) ? '-0' : String(value);
    }
    if (typeof value !== 'function' && (typeof value !== 'object' || value === null))
      return String(value);
    if (this.#parents.includes(value)) {
      const index = this.#circular.get(value) ?? this.#circular.size + 1;
      this.#circular.set(value, index);
      return `[Circular *${index}]`;
    }
    try {
      const text = this.#object(value, depth, typed);
      const index = this.#circular.get(value);
      return index === undefined ? text : `<ref *${index}> ${text}`;
    } catch (e) {
      return `[object that cannot be shown: ${e}]`;
    }
  }

  #string(text: string): string {
    const cut = text.length > stringLimit ? `... ${text.length - stringLimit} more character${text.length - stringLimit === 1 ? '' : 's'}` : '';
    const shown = cut ? text.slice(0, stringLimit) : text;
    if (shown.length > minBreak && shown.length > breakLength - this.#layout.indent - 4 && shown.includes('\n'))
      return shown.match(/[^\n]*\n|[^\n]+$/g)!.map(quoted).join(` +\n${' '.repeat(this.#layout.indent + 2)}`) + cut;
    return quoted(shown) + cut;
  }

  #object(value: object, depth: number, typed: boolean): string {
    const custom = (value as { [inspectCustom]?: unknown })[inspectCustom];
    if (typeof custom === 'function') {
      const shown: unknown = custom.call(value, this.depth - depth, {}, inspect);
      return typeof shown === 'string' ? shown : this.show(shown, depth);
    }
    const kind = kindOf(value);
    const name = className(value);
    if (name === 'Locator' && '_text' in value)
      return String(value);
    const keys = keysOf(value, kind);
    const whole = typed ? undefined : base(value, kind, name, keys.length > 0);
    if (whole !== undefined && !keys.length && kind !== 'Error')
      return whole;
    if (depth > this.depth)
      return kind === 'Array' ? '[Array]' : kind === 'Error' ? `[${headOf(value as Error)}]` : `[${name || 'Object: null prototype'}]`;
    return this.#whole(value, kind, name, keys, whole, depth);
  }

  // Formats an object with its content.
  #whole(value: object, kind: string, name: string, keys: PropertyKey[], whole: string | undefined, depth: number): string {
    this.#parents.push(value);
    this.#layout.deepest = depth;
    try {
      const inside = (v: unknown) => this.show(v, depth + 1);
      const indented = (v: unknown) => this.#indented(() => inside(v));
      let [open, close] = ['{', '}'];
      let prefix = '';
      const parts: string[] = [];
      switch (kind) {
        case 'Array': {
          [open, close] = ['[', ']'];
          const list = value as unknown[];
          prefix = name === 'Array' ? '' : `${name || '[Array: null prototype]'}(${list.length}) `;
          parts.push(...elements(list, indented));
          break;
        }
        case 'Typed': {
          [open, close] = ['[', ']'];
          const view = value as unknown as ArrayLike<number | bigint>;
          prefix = `${name}(${view.length}) `;
          for (let i = 0; i < Math.min(itemLimit, view.length); i++)
            parts.push(inside(view[i]));
          parts.push(...rest(view.length, itemLimit));
          break;
        }
        case 'Map':
        case 'Set': {
          const items = value as Map<unknown, unknown> | Set<unknown>;
          prefix = `${name || kind}(${items.size}) ${name && name !== kind ? `[${kind}] ` : ''}`;
          let n = 0;
          for (const item of items) {
            if (n++ === itemLimit)
              break;
            parts.push(kind === 'Set' ? indented(item) : this.#indented(() => `${inside((item as unknown[])[0])} => ${inside((item as unknown[])[1])}`));
          }
          parts.push(...rest(items.size, itemLimit));
          break;
        }
        case 'Promise': {
          prefix = `${name} `;
          const [state, result] = host.settled(value as Promise<unknown>);
          parts.push(state === 'pending' ? '<pending>' : state === 'rejected' ? this.#indented(() => `<rejected> ${inside(result)}`) : indented(result));
          break;
        }
        case 'WeakMap':
        case 'WeakSet':
          prefix = `${name} `;
          parts.push('<items unknown>');
          break;
        case 'ArrayBuffer': {
          prefix = `${name} `;
          const bytes = new Uint8Array(value as ArrayBuffer);
          parts.push(`[Uint8Contents]: <${hex(bytes)}>`, `byteLength: ${bytes.length}`);
          break;
        }
        case 'URLSearchParams':
          prefix = `${name} `;
          for (const [k, v] of value as URLSearchParams)
            parts.push(`${inside(k)} => ${inside(v)}`);
          break;
        case 'Error':
          parts.push(...this.#causes(value as Error, inside));
          whole = headOf(value as Error) + framesOf(value as Error).replace(/\n/g, `\n${' '.repeat(this.#layout.indent)}`);
          break;
        default:
          if (whole === undefined)
            prefix = prefixOf(value, name);
      }
      for (const key of keys.slice(0, keyLimit))
        parts.push(this.#field(value, key, inside));
      parts.push(...rest(keys.length, keyLimit));
      if (kind === 'Error' && !parts.length)
        return whole!;
      const grouped = open === '[' && parts.length > 6 ? columns(parts, this.#layout, value, itemLimit) : parts;
      return lines(grouped, { open: prefix + open, close, base: whole, depth, whole: grouped === parts }, this.#layout);
    } finally {
      this.#parents.pop();
    }
  }

  #field(value: object, key: PropertyKey, inside: (v: unknown) => string): string {
    const d = Object.getOwnPropertyDescriptor(value, key);
    const name = typeof key === 'symbol' ? `[${String(key)}]` : /^[A-Za-z_]\w*$/.test(key as string) ? String(key) : quoted(String(key));
    if (d && !('value' in d))
      return `${name}: ${d.get ? d.set ? '[Getter/Setter]' : '[Getter]' : '[Setter]'}`;
    return `${name}: ${this.#indented(() => inside((value as Fields)[key]))}`;
  }

  #causes(e: Error, inside: (v: unknown) => string): string[] {
    const out: string[] = [];
    const hidden = (key: string) => Object.hasOwn(e, key) && !Object.prototype.propertyIsEnumerable.call(e, key);
    if (hidden('cause'))
      out.push(`[cause]: ${this.#indented(() => inside(e.cause))}`);
    if (e instanceof AggregateError)
      out.push(`[errors]: ${this.#indented(() => inside(e.errors))}`);
    return out;
  }

  #indented(f: () => string): string {
    this.#layout.indent += 2;
    try {
      return f();
    } finally {
      this.#layout.indent -= 2;
    }
  }
}

const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

/** Returns the kind of an object, for kinds with their own format. */
function kindOf(value: object): string {
  if (Array.isArray(value))
    return 'Array';
  if (value instanceof Error)
    return 'Error';
  if (ArrayBuffer.isView(value))
    return value instanceof DataView ? 'DataView' : 'Typed';
  for (const [kind, type] of kinds) {
    if (value instanceof type)
      return kind;
  }
  const name = className(value);
  if (name === 'URL' || name === 'URLSearchParams')
    return name;
  return typeof value === 'function' ? 'Function' : Object.prototype.toString.call(value) === '[object Arguments]' ? 'Arguments' : '';
}

const kinds: [string, Function][] = [['Map', Map], ['Set', Set], ['Promise', Promise], ['Date', Date], ['RegExp', RegExp], ['WeakMap', WeakMap],
  ['WeakSet', WeakSet], ['ArrayBuffer', ArrayBuffer], ['Number', Number], ['String', String], ['Boolean', Boolean], ['Symbol', Symbol], ['BigInt', BigInt]];

/** The fields of a URL, which its class defines. */
const urlFields = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash'];

/** Returns the keys to show, besides the items of an array. */
function keysOf(value: object, kind: string): PropertyKey[] {
  if (kind === 'URL')
    return urlFields;
  if (kind === 'DataView')
    return ['byteLength', 'byteOffset', 'buffer'];
  const symbols = Object.getOwnPropertySymbols(value).filter(s => Object.prototype.propertyIsEnumerable.call(value, s));
  if (kind === 'Typed' || kind === 'String')
    return symbols; // too many items to read their keys
  const isItem = (k: string) => kind === 'Array' && /^\d+$/.test(k) && Number(k) < (value as unknown[]).length;
  const keys = kind === 'Array' && (value as unknown[]).length > keyLimit ? [] : Object.keys(value).filter(k => !isItem(k) && !(kind === 'Error' && (k === 'stack' || k === 'message')));
  return [...keys, ...symbols];
}

/** Returns the text for an object whose items are not shown in braces. */
function base(value: object, kind: string, name: string, more: boolean): string | undefined {
  switch (kind) {
    case 'Function': return named(value as Function, name);
    case 'Date': return Number.isNaN((value as Date).getTime()) ? 'Invalid Date' : (value as Date).toISOString();
    case 'RegExp': return String(value);
    case 'Number':
    case 'String':
    case 'Boolean':
    case 'Symbol':
    case 'BigInt': return `[${kind}: ${inspectPrimitive((value as Number).valueOf())}]`;
    case 'Typed':
      if (name === 'Buffer') {
        const bytes = value as Uint8Array;
        return `<Buffer${bytes.length ? ` ${hex(bytes)}` : ''}>`;
      }
      return undefined;
    case 'Arguments':
    case 'Error': return undefined;
    case '': return more ? undefined : `${prefixOf(value, name)}{}`;
  }
  return undefined;
}

function inspectPrimitive(value: unknown): string { return typeof value === 'string' ? quoted(value) : typeof value === 'bigint' ? `${value}n` : String(value); }

/** Returns the text before an object's braces: its class and its tag. */
function prefixOf(value: object, name: string): string {
  const tag = (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  const tagged = typeof tag === 'string' && tag && tag !== name ? `[${tag}] ` : '';
  if (!name)
    return `[Object: null prototype] ${tagged}`;
  return name === 'Object' && !tagged ? Object.prototype.toString.call(value) === '[object Arguments]' ? '[Arguments] ' : '' : `${name} ${tagged}`;
}

/** Returns the items of an array, with texts for holes. */
function elements(list: unknown[], show: (v: unknown) => string): string[] {
  const out: string[] = [];
  let i = 0;
  while (i < list.length && out.length < itemLimit) {
    if (Object.hasOwn(list, i)) {
      out.push(show(list[i++]));
      continue;
    }
    const start = i;
    while (i < list.length && i - start < keyLimit && !Object.hasOwn(list, i))
      i++;
    if (i - start === keyLimit && !Object.keys(list).some(k => Number(k) >= i))
      i = list.length;
    out.push(`<${i - start} empty item${i - start === 1 ? '' : 's'}>`);
  }
  return [...out, ...rest(list.length, i)];
}

function rest(total: number, shown: number): string[] {
  return total > shown ? [`... ${total - shown} more item${total - shown === 1 ? '' : 's'}`] : [];
}

function hex(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, byteLimit), b => b.toString(16).padStart(2, '0')).join(' ');
  return bytes.length > byteLimit ? `${shown} ... ${bytes.length - byteLimit} more byte${bytes.length - byteLimit === 1 ? '' : 's'}` : shown;
}

/** Returns the first line of an error. */
function headOf(e: Error): string {
  const message = worded(e);
  const name = e.name === 'Error' ? className(e) || 'Error' : String(e.name);
  return message ? `${name}: ${message}` : name;
}

function framesOf(e: Error): string { return typeof e.stack === 'string' ? host.tidy(e.stack) : ''; }

function className(value: object): string {
  for (let p: object | null = value; p; p = Object.getPrototypeOf(p) as object | null) {
    const d = Object.getOwnPropertyDescriptor(p, 'constructor');
    if (d && typeof d.value === 'function' && d.value.name)
      return d.value.name === 'Iterator' ? 'Object' : d.value.name as string; // Node shows iterators as Object, too
  }
  return '';
}

function named(f: Function, type: string): string {
  if (/^class\b/.test(Function.prototype.toString.call(f))) {
    const parent = (Object.getPrototypeOf(f) as Function | null)?.name;
    return `[class ${f.name || '(anonymous)'}${parent ? ` extends ${parent}` : ''}]`;
  }
  return `[${type || 'Function'}${f.name ? `: ${f.name}` : ' (anonymous)'}]`;
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f', '\v': '\\v' };

function quoted(text: string): string {
  const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes('`') && !text.includes('${') ? '`' : "'";
  // eslint-disable-next-line no-control-regex
  const shown = text.replace(/[\x00-\x1f\x7f-\x9f\\]/g, c => escapes[c] ?? `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  return quote + (quote === "'" ? shown.replace(/'/g, "\\'") : shown) + quote;
}
