// Intl.Collator, RelativeTimeFormat, ListFormat and Locale.

import { host } from '../core/host.ts';
import { canonical, fill, join, option, type Part, resolve, styles, supported } from './locale.ts';
import { NumberFormat, PluralRules } from './numbers.ts';

type Options = Record<string, unknown>;

/** Compares text in the order of a language. */
export class Collator {
  #o;
  #compare: ((a: string, b: string) => number) | undefined;

  constructor(locales?: unknown, options: Options = {}) {
    const { locale } = resolve(locales);
    this.#o = {
      locale, usage: option(options, 'usage', ['sort', 'search'], 'sort'),
      sensitivity: option(options, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant'),
      ignorePunctuation: !!options['ignorePunctuation'], collation: 'default', numeric: !!options['numeric'],
      caseFirst: option(options, 'caseFirst', ['upper', 'lower', 'false'], 'false'),
    };
  }

  static supportedLocalesOf(locales: unknown): string[] { return supported(locales); }

  get compare(): (a: string, b: string) => number {
    const { locale, sensitivity, numeric, ignorePunctuation } = this.#o;
    return this.#compare ??= (a, b) => host.compare(locale, sensitivity, numeric, ignorePunctuation, String(a), String(b));
  }

  resolvedOptions(): object { return { ...this.#o }; }
}

/** Formats a relative time: in 3 days, yesterday. */
export class RelativeTimeFormat {
  #o;
  #data;
  #numbers;
  #rules;

  constructor(locales?: unknown, options: Options = {}) {
    const { locale, data } = resolve(locales);
    this.#data = data.relative;
    this.#numbers = new NumberFormat(locale);
    this.#rules = new PluralRules(locale);
    this.#o = {
      locale, numeric: option(options, 'numeric', ['always', 'auto'], 'always'), numberingSystem: 'latn',
      style: option(options, 'style', ['long', 'short', 'narrow'], 'long'),
    };
  }

  static supportedLocalesOf(locales: unknown): string[] { return supported(locales); }

  format(value: number, unit: string): string { return join(this.formatToParts(value, unit)); }

  formatToParts(value: number, unit: string): Part[] {
    const name = unit.replace(/s$/, '');
    const of = Object.hasOwn(this.#data, name) ? this.#data[name]![styles.indexOf(this.#o.style)]! : undefined;
    if (!of)
      throw new RangeError(`Invalid unit argument for format() '${unit}'`);
    if (!Number.isFinite(Number(value)))
      throw new RangeError('Invalid value for Intl.RelativeTimeFormat.prototype.format()');
    const word = this.#o.numeric === 'auto' && !Object.is(value, -0) ? of.words[value] : undefined;
    if (word !== undefined)
      return [{ type: 'literal', value: word }];
    const way = value < 0 || Object.is(value, -0) ? of.past : of.future;
    const size = Math.abs(value);
    return fill(way[this.#rules.select(size)] ?? way['other']!, () => this.#numbers.formatToParts(size));
  }

  resolvedOptions(): object { return { ...this.#o }; }
}

/** Formats a list: a, b, and c. */
export class ListFormat {
  #o;
  #between;

  constructor(locales?: unknown, options: Options = {}) {
    const { locale, data } = resolve(locales);
    this.#o = { locale, type: option(options, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction'), style: option(options, 'style', ['long', 'short', 'narrow'], 'long') };
    this.#between = data.lists[this.#o.type]![styles.indexOf(this.#o.style)]!;
  }

  static supportedLocalesOf(locales: unknown): string[] { return supported(locales); }

  format(items: Iterable<string>): string { return join(this.formatToParts(items)); }

  formatToParts(items: Iterable<string>): Part[] {
    const list = [...items];
    const [pair, first, middle, last] = this.#between;
    return list.flatMap((value, i) => {
      const before = i === 0 ? [] : [{ type: 'literal', value: list.length === 2 ? pair : i === list.length - 1 ? last : i === 1 ? first : middle }];
      return [...before, { type: 'element', value }];
    });
  }

  resolvedOptions(): object { return { ...this.#o }; }
}

/** A language with its region. */
export class Locale {
  readonly baseName: string;
  readonly language: string;
  readonly script: string | undefined;
  readonly region: string | undefined;

  constructor(tag: unknown) {
    this.baseName = canonical(tag).replace(/-[a-z\d]-.*$/, '');
    const [language, ...rest] = this.baseName.split('-');
    this.language = language!;
    this.script = rest.find(p => /^[A-Z][a-z]{3}$/.test(p));
    this.region = rest.find(p => /^([A-Z]{2}|\d{3})$/.test(p));
  }

  toString(): string { return this.baseName; }
}
