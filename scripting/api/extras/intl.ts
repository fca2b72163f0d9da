// Intl, and the methods of built-in classes that need it.

import { DateTimeFormat } from '../intl/dates.ts';
import { requested } from '../intl/locale.ts';
import { NumberFormat, PluralRules } from '../intl/numbers.ts';
import { Collator, ListFormat, Locale, RelativeTimeFormat } from '../intl/words.ts';

type Options = Record<string, unknown>;

/** Makes a class of Intl callable without new. */
function callable<T extends (new (...args: any[]) => object) & { supportedLocalesOf: unknown }>(name: string, c: T): T {
  const f = function (...args: unknown[]) { return new c(...args); };
  Object.defineProperties(f, { name: { value: name, configurable: true }, prototype: { value: c.prototype }, supportedLocalesOf: { value: c.supportedLocalesOf } });
  Object.defineProperty(c.prototype, 'constructor', { value: f, configurable: true });
  Object.defineProperty(c.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
  return f as unknown as T;
}

/** The global Intl. */
export const Intl = Object.defineProperty({
  DateTimeFormat: callable('DateTimeFormat', DateTimeFormat),
  NumberFormat: callable('NumberFormat', NumberFormat),
  Collator: callable('Collator', Collator),
  PluralRules, RelativeTimeFormat, ListFormat, Locale,
  getCanonicalLocales: requested,
  supportedValuesOf(key: string): string[] {
    if (!['calendar', 'collation', 'currency', 'numberingSystem', 'timeZone', 'unit'].includes(key))
      throw new RangeError(`Invalid key : ${key}`);
    return key === 'calendar' ? ['gregory'] : key === 'numberingSystem' ? ['latn'] : [];
  },
}, Symbol.toStringTag, { value: 'Intl', configurable: true });

for (const name of ['PluralRules', 'RelativeTimeFormat', 'ListFormat', 'Locale'] as const)
  Object.defineProperty(Intl[name], 'name', { value: name, configurable: true });

// The formats made so far, by kind, locales and options, because scripts use them repeatedly.
const kept = new Map<string, { format: (value: any) => string }>();

function formatOf(kind: string, locales: unknown, options: Options | undefined, make: () => { format: (value: any) => string }): (value: any) => string {
  const key = JSON.stringify([kind, locales, options]);
  let found = kept.get(key);
  if (!found) {
    found = make();
    kept.set(key, found);
  }
  return found.format;
}

function dateText(name: string, fields: 'any' | 'date' | 'time', defaults: 'all' | 'date' | 'time') {
  return function (this: Date, locales?: unknown, options?: Options): string {
    const time = Date.prototype.getTime.call(this);
    return Number.isNaN(time) ? 'Invalid Date' : formatOf(name, locales, options, () => new DateTimeFormat(locales, options, fields, defaults))(time);
  };
}

/** Methods of built-in classes, by class; globals.ts installs them. */
export const methods: Record<string, Record<string, (...args: any[]) => unknown>> = {
  Number: {
    toLocaleString(this: number, locales?: unknown, options?: Options) {
      return formatOf('number', locales, options, () => new NumberFormat(locales, options))(Number(this));
    },
  },
  BigInt: {
    toLocaleString(this: bigint, locales?: unknown, options?: Options) {
      return formatOf('number', locales, options, () => new NumberFormat(locales, options))(BigInt.prototype.valueOf.call(this));
    },
  },
  Date: {
    toLocaleString: dateText('any', 'any', 'all'),
    toLocaleDateString: dateText('date', 'date', 'date'),
    toLocaleTimeString: dateText('time', 'time', 'time'),
  },
  String: {
    localeCompare(this: string, other: string, locales?: unknown, options?: Options) {
      return new Collator(locales, options).compare(String(this), other);
    },
  },
  Array: {
    toLocaleString(this: unknown[], locales?: unknown, options?: Options) {
      return Array.from(this, x => (x === null || x === undefined ? '' : (x as Date).toLocaleString(locales as string, options))).join(',');
    },
  },
};
