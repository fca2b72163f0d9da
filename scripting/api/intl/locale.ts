// Locales: resolving them, and their data (data.mjs).

import { host } from '../core/host.ts';

/** Words by plural category: one, few, other …. */
export type PerCategory = Record<string, string>;

/** The data of a locale in data.mjs. */
export interface LocaleData {
  numbers: {
    decimal: string; group: string; groups: [number, number]; smallestGrouped: number;
    minus: string; plus: string; percent: string; nan: string; infinity: string;
    patterns: Record<'decimal' | 'percent' | 'currency' | 'code' | 'accounting', [string, string]>;
    currencies: Record<string, { symbol: string; narrow: string; names: PerCategory }>;
    compact: Record<'short' | 'long', [number, PerCategory][]>;
    units: Record<string, PerCategory[]>;
  };
  dates: {
    patterns: Record<string, string>; glues: Record<string, string>; times: Record<string, string>;
    dateStyles: Record<string, string>; timeStyles: Record<string, string>; styleGlues: Record<string, string>;
    months: string[][]; weekdays: string[][]; periods: [string, string]; hourCycle: 'h12' | 'h23';
    zones: Record<string, Record<string, [string, string]>>;
  };
  relative: Record<string, { words: Record<string, string>; future: PerCategory; past: PerCategory }[]>;
  lists: Record<string, [string, string, string, string][]>;
}

/** The default locale of scripts. */
const defaultLocale = 'en-US';

/** Languages whose data is that of one of their regions. */
const regions: Record<string, string> = { en: 'en-US', pt: 'pt-BR', zh: 'zh-CN', no: 'nb' };

/** Styles in the order of the data. */
export const styles = ['long', 'short', 'narrow'];

const known = new Map<string, LocaleData | null>();

function data(name: string): LocaleData | null {
  let d = known.get(name);
  if (d === undefined) {
    const text = host.locale(name);
    d = text === null ? null : JSON.parse(text) as LocaleData;
    known.set(name, d);
  }
  return d;
}

/** Returns the canonical form of a tag: en-us becomes en-US. */
export function canonical(tag: unknown): string {
  if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null))
    throw new TypeError('Incorrect locale information provided');
  const text = String(tag);
  if (!/^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*(-[a-z\d](-[a-z\d]{2,8})+)*$/i.test(text))
    throw new RangeError(`Incorrect locale information provided`);
  let inExtension = false;
  return text.split('-').map((part, i) => {
    inExtension ||= part.length === 1;
    if (i === 0 || inExtension)
      return part.toLowerCase();
    if (part.length === 2)
      return part.toUpperCase();
    return part.length === 4 && /^[a-z]/i.test(part) ? part[0]!.toUpperCase() + part.slice(1).toLowerCase() : part.toLowerCase();
  }).join('-');
}

/** Returns the tags of a locales argument. */
export function requested(locales: unknown): string[] {
  if (locales === undefined)
    return [];
  const list = typeof locales === 'string' || (locales as { baseName?: string })?.baseName ? [locales] : Array.from(locales as Iterable<unknown>);
  return [...new Set(list.map(canonical))];
}

/** Returns the first known locale of a list with its data, or the default. */
export function resolve(locales: unknown): { locale: string; data: LocaleData } {
  for (const tag of requested(locales)) {
    const base = tag.replace(/-[a-z\d]-.*$/, ''); // without extensions
    const [language, ...rest] = base.split('-');
    const region = rest.find(p => /^([A-Z]{2}|\d{3})$/.test(p));
    const script = rest.includes('Hant') || language === 'zh' && (region === 'HK' || region === 'MO') ? 'zh-TW' : undefined;
    for (const name of [`${language}-${region}`, script, language!, regions[language!]]) {
      const found = name && data(name);
      if (found)
        return { locale: base, data: found };
    }
  }
  return { locale: defaultLocale, data: data(defaultLocale)! };
}

/** Returns the tags whose language is known. */
export function supported(locales: unknown): string[] {
  return requested(locales).filter(tag => tag.startsWith('en') || resolve(tag).locale !== defaultLocale);
}

/** Reads an option with a fixed set of values. */
export function option<T extends string>(options: object, name: string, values: readonly T[], otherwise: T): T;
export function option<T extends string>(options: object, name: string, values: readonly T[]): T | undefined;
export function option<T extends string>(options: object, name: string, values: readonly T[], otherwise?: T): T | undefined {
  const value = (options as Record<string, unknown>)[name];
  if (value === undefined)
    return otherwise;
  if (!values.includes(String(value) as T))
    throw new RangeError(`Value ${String(value)} out of range for Intl options property ${name}`);
  return String(value) as T;
}

/** Reads an option that is a number. */
export function numeric(options: object, name: string, min: number, max: number): number | undefined {
  const value = (options as Record<string, unknown>)[name];
  if (value === undefined)
    return undefined;
  const n = Number(value);
  if (!(n >= min && n <= max))
    throw new RangeError(`${name} value is out of range.`);
  return Math.floor(n);
}

/** A piece of formatted text. */
export interface Part { type: string; value: string }

/** Fills a pattern: text becomes literals, and `give` returns the parts for names in braces. */
export function fill(pattern: string, give: (name: string) => Part | Part[], literal = 'literal'): Part[] {
  const out: Part[] = [];
  for (const piece of pattern.split(/(\{[^}]+\})/)) {
    if (!piece)
      continue;
    if (piece[0] === '{')
      out.push(...[give(piece.slice(1, -1))].flat());
    else
      out.push({ type: literal, value: piece });
  }
  return out;
}

/** Joins parts into text. */
export function join(parts: Part[]): string { return parts.map(p => p.value).join(''); }
