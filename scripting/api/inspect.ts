// Values as console shows them, in the manner of Node's util.inspect.

import { host } from './host.ts';

const depthLimit = 4;
const itemLimit = 100;
const stringLimit = 10_000;
const lineWidth = 76;

/** A value as text; strings at the top are themselves. */
export function inspect(value: unknown): string {
  return typeof value === 'string' ? value : show(value, 0, []);
}

/** The arguments of a console call as one text, with %s and its kin. */
export function format(args: readonly unknown[]): string {
  const [first, ...rest] = args;
  if (typeof first !== 'string' || !rest.length || !first.includes('%'))
    return args.map(inspect).join(' ');
  const text = first.replace(/%([sdifjoOc%])/g, (all, kind: string) => {
    if (kind === '%')
      return '%';
    if (!rest.length)
      return all;
    const value = rest.shift();
    switch (kind) {
      case 's': return typeof value === 'object' && value !== null ? show(value, depthLimit - 1, []) : String(value);
      case 'd': return String(typeof value === 'object' ? NaN : Number(value));
      case 'i': return String(parseInt(String(value), 10));
      case 'f': return String(parseFloat(String(value)));
      case 'j': return JSON.stringify(value);
      case 'c': return '';
      default: return show(value, 0, []);
    }
  });
  return [text, ...rest.map(inspect)].join(' ');
}

function show(value: unknown, depth: number, parents: object[]): string {
  switch (typeof value) {
    case 'string': return quoted(value);
    case 'bigint': return `${value}n`;
    case 'symbol': return String(value);
    case 'function': return named(value);
    case 'number': return Object.is(value, -0) ? '-0' : String(value);
  }
  if (typeof value !== 'object' || value === null)
    return String(value);
  if (parents.includes(value))
    return '[Circular]';
  try {
    return object(value, depth, [...parents, value]);
  } catch (e) {
    return `[object that cannot be shown: ${e}]`;
  }
}

function object(value: object, depth: number, parents: object[]): string {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  const name = className(value);
  if (value instanceof Error)
    return error(value, depth, parents);
  if (tag === 'Date')
    return Number.isNaN((value as Date).getTime()) ? 'Invalid Date' : (value as Date).toISOString();
  if (tag === 'RegExp')
    return String(value);
  if (tag === 'Promise')
    return 'Promise {}';
  if (tag === 'Number' || tag === 'String' || tag === 'Boolean')
    return `[${tag}: ${show((value as Number).valueOf(), depth, parents)}]`;
  if (name === 'URL')
    return `URL { ${quoted(String(value))} }`;
  if (name === 'Locator')
    return String(value);
  if (depth >= depthLimit)
    return Array.isArray(value) ? '[Array]' : `[${name || 'Object'}]`;

  const inside = (v: unknown) => show(v, depth + 1, parents);
  if (Array.isArray(value)) {
    const items = value.slice(0, itemLimit).map(inside);
    return braces('', '[', more(items, value.length), ']');
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const view = value as unknown as ArrayLike<number>;
    if (name === 'Buffer')
      return `<Buffer ${Array.from({ length: Math.min(50, view.length) }, (_, i) => view[i]!.toString(16).padStart(2, '0')).join(' ')}${view.length > 50 ? ` ... ${view.length - 50} more bytes` : ''}>`;
    return braces(`${name}(${view.length}) `, '[', more(Array.from({ length: Math.min(itemLimit, view.length) }, (_, i) => String(view[i])), view.length), ']');
  }
  if (tag === 'Map') {
    const entries = [...(value as Map<unknown, unknown>)].slice(0, itemLimit).map(([k, v]) => `${inside(k)} => ${inside(v)}`);
    return braces(`Map(${(value as Map<unknown, unknown>).size}) `, '{', more(entries, (value as Map<unknown, unknown>).size), '}');
  }
  if (tag === 'Set') {
    const items = [...(value as Set<unknown>)].slice(0, itemLimit).map(inside);
    return braces(`Set(${(value as Set<unknown>).size}) `, '{', more(items, (value as Set<unknown>).size), '}');
  }
  const keys = Object.keys(value);
  const fields = keys.slice(0, itemLimit).map(k => `${/^[A-Za-z_$][\w$]*$/.test(k) ? k : quoted(k)}: ${field(value, k, inside)}`);
  return braces(name && name !== 'Object' ? `${name} ` : name ? '' : '[Object: null prototype] ', '{', more(fields, keys.length), '}');
}

function field(value: object, key: string, inside: (v: unknown) => string): string {
  const d = Object.getOwnPropertyDescriptor(value, key);
  if (d && !('value' in d))
    return d.get ? d.set ? '[Getter/Setter]' : '[Getter]' : '[Setter]';
  return inside((value as Record<string, unknown>)[key]);
}

function error(e: Error, depth: number, parents: object[]): string {
  const head = `${e.name}: ${e.message}`;
  const frames = typeof e.stack === 'string' ? host.tidy(e.stack) : '';
  const own = Object.keys(e).filter(k => k !== 'name' && k !== 'message' && k !== 'stack' && k !== 'cause');
  const fields = own.map(k => `  ${k}: ${show((e as unknown as Record<string, unknown>)[k], depth + 1, parents)}`);
  const cause = e.cause === undefined ? '' : `\n  [cause]: ${show(e.cause, depth + 1, parents)}`;
  return head + frames + (fields.length ? ` {\n${fields.join(',\n')}\n}` : '') + cause;
}

function className(value: object): string {
  for (let p: object | null = value; p; p = Object.getPrototypeOf(p) as object | null) {
    const d = Object.getOwnPropertyDescriptor(p, 'constructor');
    if (d && typeof d.value === 'function' && d.value.name)
      return d.value.name as string;
  }
  return '';
}

function named(f: Function): string {
  const isClass = /^class\b/.test(Function.prototype.toString.call(f));
  return isClass ? `[class ${f.name || '(anonymous)'}]` : `[Function${f.name ? `: ${f.name}` : ' (anonymous)'}]`;
}

function quoted(text: string): string {
  const cut = text.length > stringLimit ? `... ${text.length - stringLimit} more characters` : '';
  const shown = (cut ? text.slice(0, stringLimit) : text).replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t');
  const quote = !shown.includes("'") ? "'" : !shown.includes('"') ? '"' : !shown.includes('`') ? '`' : "'";
  return quote + (quote === "'" ? shown.replace(/'/g, "\\'") : shown) + quote + cut;
}

function more(items: string[], total: number): string[] {
  return total > items.length ? [...items, `... ${total - items.length} more items`] : items;
}

function braces(prefix: string, open: string, items: string[], close: string): string {
  if (!items.length)
    return `${prefix}${open}${close}`;
  const pad = open === '{' || open === '[' ? ' ' : '';
  const line = `${prefix}${open}${pad}${items.join(', ')}${pad}${close}`;
  if (line.length <= lineWidth && !line.includes('\n'))
    return line;
  return `${prefix}${open}\n${items.map(i => '  ' + i.replace(/\n/g, '\n  ')).join(',\n')}\n${close}`;
}
