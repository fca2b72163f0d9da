// goja's RegExp supports neither \p{…} nor the flags v and d. esbuild turns literals that use them into calls to the constructor, and this module
// replaces the constructor with one that translates them.

import { host } from '../core/host.ts';

const Native = RegExp;
const exec = Native.prototype.exec;

/** Replaces the global RegExp. Everything else about regular expressions stays the same. */
export function installRegExp(): void {
  function Wrapped(this: unknown, pattern: string | RegExp = '', flags?: string): RegExp {
    if (pattern instanceof Native && flags === undefined && new.target === undefined)
      return pattern;
    const source = pattern instanceof Native ? sources.get(pattern) ?? pattern.source : String(pattern);
    const given = flags === undefined ? pattern instanceof Native ? pattern.flags : '' : String(flags);
    const plain = given.replace(/[dv]/g, '');
    const unicode = given.includes('v') || given.includes('u');
    if (!given.includes('d') && !given.includes('v') && !(unicode && /\\[pP]\{/.test(source)))
      return Reflect.construct(Native, [source, given], new.target ?? Wrapped);
    if (given.includes('v') && given.includes('u'))
      throw new SyntaxError(`Invalid flags supplied to RegExp constructor '${given}'`);
    const translated = unicode ? new Translator(source, given.includes('v')).run() : source;
    const re: RegExp = Reflect.construct(Native, [translated, unicode && !plain.includes('u') ? plain + 'u' : plain], new.target ?? Wrapped);
    sources.set(re, source);
    Object.defineProperty(re, 'source', { value: source, configurable: true });
    Object.defineProperty(re, 'flags', { value: given, configurable: true });
    if (given.includes('v'))
      Object.defineProperty(re, 'unicodeSets', { value: true, configurable: true });
    if (given.includes('d')) {
      Object.defineProperty(re, 'hasIndices', { value: true, configurable: true });
      Object.defineProperty(re, 'exec', { value: execWithIndices, configurable: true, writable: true });
    }
    return re;
  }
  Object.defineProperty(Wrapped, 'prototype', { value: Native.prototype, writable: false });
  Object.defineProperty(Wrapped, 'name', { value: 'RegExp' });
  Object.defineProperty(Wrapped, Symbol.species, { get() { return this; } });
  for (const key of Object.getOwnPropertyNames(Native)) {
    if (!Object.hasOwn(Wrapped, key))
      Object.defineProperty(Wrapped, key, Object.getOwnPropertyDescriptor(Native, key)!);
  }
  Object.defineProperty(Native.prototype, 'constructor', { value: Wrapped, writable: true, configurable: true });
  (globalThis as { RegExp: unknown }).RegExp = Wrapped;
}

const sources = new WeakMap<RegExp, string>();

// Finds the positions of groups by searching for their texts in the match, from left to right. That is right for groups that follow each other, and a
// guess for others.
function execWithIndices(this: RegExp, text: string): RegExpExecArray | null {
  const m = exec.call(this, text);
  if (!m)
    return m;
  let from = m.index;
  const spans: ([number, number] | undefined)[] = m.map((part, i) => {
    if (part === undefined)
      return undefined;
    if (i === 0)
      return [m.index, m.index + part.length];
    const at = text.indexOf(part, from);
    if (at < 0)
      return [m.index, m.index + part.length];
    from = at;
    return [at, at + part.length];
  });
  const groups = m.groups && Object.fromEntries(Object.entries(m.groups).map(([name, part]) => [name, spans[m.indexOf(part as string, 1)]]));
  (m as { indices?: unknown }).indices = Object.assign(spans, { groups });
  return m;
}

/** Converts a pattern with the flag u or v to one with u that goja knows. */
class Translator {
  #at = 0;

  constructor(private readonly source: string, private readonly sets: boolean) {}

  run(): string {
    let out = '';
    while (this.#at < this.source.length) {
      const c = this.source[this.#at]!;
      if (c === '[')
        out += this.sets ? this.#set().pattern : this.#class();
      else if (c === '\\')
        out += this.#escape(false);
      else {
        out += c;
        this.#at++;
      }
    }
    return out;
  }

  /** Translates an escape. Inside a class, a property becomes plain ranges. */
  #escape(inClass: boolean): string {
    const m = /^\\([pP])\{([^}]*)\}/.exec(this.source.slice(this.#at));
    if (!m) {
      const two = this.source.slice(this.#at, this.#at + 2);
      this.#at += 2;
      return two;
    }
    this.#at += m[0].length;
    const ranges = host.unicode(m[2]!);
    if (ranges === null)
      throw new SyntaxError(`Invalid regular expression: /${this.source}/: Invalid property name`);
    if (!inClass)
      return `[${m[1] === 'P' ? '^' : ''}${ranges}]`;
    return m[1] === 'P' ? complement(ranges) : ranges;
  }

  /** Translates a class without set operations. */
  #class(): string {
    let out = '[';
    this.#at++;
    while (this.#at < this.source.length) {
      const c = this.source[this.#at]!;
      if (c === '\\') {
        out += this.#escape(true);
        continue;
      }
      out += c;
      this.#at++;
      if (c === ']')
        break;
    }
    return out;
  }

  /** Translates a class with the flag v: [A--B] becomes (?!B)A, [A&&B] becomes (?=B)A, and nested classes become alternatives. */
  #set(): { pattern: string } {
    this.#at++;
    const negated = this.source[this.#at] === '^';
    if (negated)
      this.#at++;
    let plain = '';
    let parts: string[] = [];
    let ahead = '';
    let operator = '';
    const close = () => {
      if (plain)
        parts.push(`[${plain}]`);
      const whole = parts.length === 1 ? parts[0]! : parts.length ? `(?:${parts.join('|')})` : '[]';
      plain = '';
      parts = [];
      return whole;
    };
    let first = '';
    const operand = () => {
      const whole = close();
      if (operator === '')
        first = whole;
      else
        ahead += operator === '--' ? `(?!${whole})` : `(?=${whole})`;
    };
    for (;;) {
      const rest = this.source.slice(this.#at);
      if (!rest)
        throw new SyntaxError(`Invalid regular expression: /${this.source}/: Unterminated character class`);
      if (rest[0] === ']') {
        this.#at++;
        break;
      }
      if (rest.startsWith('--') || rest.startsWith('&&')) {
        operand();
        operator = rest.slice(0, 2);
        this.#at += 2;
      } else if (rest[0] === '[') {
        parts.push(this.#set().pattern);
      } else if (rest.startsWith('\\q{')) {
        const end = rest.indexOf('}');
        parts.push(...rest.slice(3, end).split('|').sort((a, b) => b.length - a.length));
        this.#at += end + 1;
      } else if (rest[0] === '\\') {
        plain += this.#escape(true);
      } else {
        plain += rest[0]!;
        this.#at++;
      }
    }
    operand();
    const pattern = ahead ? `(?:${ahead}${first})` : first;
    return { pattern: negated ? `(?:(?!${pattern})[\\s\\S])` : pattern };
  }
}

// Returns the complement of sorted ranges, written as \u{a}-\u{b}.
function complement(ranges: string): string {
  const list = [...ranges.matchAll(/\\u\{([0-9a-f]+)\}(?:-\\u\{([0-9a-f]+)\})?/g)]
    .map(m => [parseInt(m[1]!, 16), parseInt(m[2] ?? m[1]!, 16)] as const)
    .sort((a, b) => a[0] - b[0]);
  let out = '';
  let next = 0;
  for (const [lo, hi] of list) {
    if (lo > next)
      out += `\\u{${next.toString(16)}}-\\u{${(lo - 1).toString(16)}}`;
    next = Math.max(next, hi + 1);
  }
  return next <= 0x10ffff ? out + `\\u{${next.toString(16)}}-\\u{10ffff}` : out;
}
