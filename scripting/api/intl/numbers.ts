// Intl.NumberFormat and Intl.PluralRules.

import { host } from '../core/host.ts';
import { fill, join, numeric, option, type Part, type PerCategory, resolve, styles, supported } from './locale.ts';

/** A number in decimal digits. */
interface Decimal { negative: boolean; digits: string; point: number } // 0.digits × 10^point

function decimal(value: number | bigint): Decimal {
  const text = String(value);
  const m = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text)!;
  const all = m[2]! + (m[3] ?? '');
  const leading = /^0*/.exec(all)![0].length;
  const digits = all.slice(leading).replace(/0+$/, '');
  return { negative: m[1] === '-' || Object.is(value, -0), digits, point: digits ? m[2]!.length + Number(m[4] ?? 0) - leading : 0 };
}

/** Rounds half away from zero after a number of digits. */
function round(d: Decimal, keep: number): Decimal {
  if (keep >= d.digits.length)
    return d;
  if (keep < 0)
    return { ...d, digits: '', point: 0 };
  const up = d.digits[keep]! >= '5';
  let digits = d.digits.slice(0, keep);
  let point = d.point;
  if (up) {
    const sum = String(BigInt(digits || '0') + 1n).padStart(keep, '0');
    point += sum.length - keep;
    digits = sum;
  }
  digits = digits.replace(/0+$/, '');
  return digits ? { ...d, digits, point } : { ...d, digits, point: 0 };
}

/** Splits a number into integer and fraction digits, with a minimum number of the latter. */
function spread(d: Decimal, fraction: number): [string, string] {
  const padded = d.point > 0 ? d.digits.padEnd(d.point, '0') : '0'.repeat(-d.point) + d.digits;
  const at = Math.max(d.point, 0);
  return [padded.slice(0, at) || '0', padded.slice(at).padEnd(fraction, '0')];
}

const noFraction = new Set(['JPY', 'KRW', 'CLP', 'VND', 'ISK', 'XAF', 'XOF', 'XPF', 'PYG', 'UGX', 'RWF', 'KMF', 'GNF', 'DJF', 'BIF', 'VUV']);
const threeDigits = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);

type Options = Record<string, unknown>;

/** Formats numbers in a locale. */
export class NumberFormat {
  #o;
  #data;
  #format: ((value: number | bigint | string) => string) | undefined;

  constructor(locales?: unknown, options: Options = {}) {
    const { locale, data } = resolve(locales);
    this.#data = data.numbers;
    const style = option(options, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal');
    const currency = options['currency'] === undefined ? undefined : String(options['currency']).toUpperCase();
    if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
      throw new RangeError(`Invalid currency code : ${String(options['currency'])}`);
    if (style === 'currency' && currency === undefined)
      throw new TypeError('Currency code is required with currency style.');
    const unit = options['unit'] === undefined ? undefined : String(options['unit']);
    if (style === 'unit' && unit === undefined)
      throw new TypeError('Unit is required with unit style.');
    const notation = option(options, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard');
    const cents = style !== 'currency' || notation === 'compact' ? 0 : noFraction.has(currency!) ? 0 : threeDigits.has(currency!) ? 3 : 2;
    const minSignificant = numeric(options, 'minimumSignificantDigits', 1, 21);
    const maxSignificant = numeric(options, 'maximumSignificantDigits', minSignificant ?? 1, 21);
    let min = numeric(options, 'minimumFractionDigits', 0, 100);
    let max = numeric(options, 'maximumFractionDigits', 0, 100);
    const usual = style === 'currency' ? cents : style === 'percent' || notation === 'compact' ? 0 : 3;
    const compactRounding = notation === 'compact' && min === undefined && max === undefined && minSignificant === undefined && maxSignificant === undefined;
    if (min !== undefined && max !== undefined && min > max)
      throw new RangeError('maximumFractionDigits value is out of range.');
    min ??= Math.min(cents, max ?? cents);
    max ??= Math.max(min, usual);
    const grouping = options['useGrouping'];
    this.#o = {
      locale, numberingSystem: 'latn', style, currency, unit, notation,
      currencyDisplay: option(options, 'currencyDisplay', ['symbol', 'narrowSymbol', 'code', 'name'], 'symbol'),
      currencySign: option(options, 'currencySign', ['standard', 'accounting'], 'standard'),
      unitDisplay: option(options, 'unitDisplay', ['short', 'long', 'narrow'], 'short'),
      compactDisplay: option(options, 'compactDisplay', ['short', 'long'], 'short'),
      signDisplay: option(options, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto'),
      useGrouping: grouping === undefined ? notation === 'compact' ? 'min2' : 'auto' : grouping === false || grouping === 'false' ? false : grouping === true ? 'always' : String(grouping),
      minimumIntegerDigits: numeric(options, 'minimumIntegerDigits', 1, 21) ?? 1,
      minimumFractionDigits: min, maximumFractionDigits: max,
      minSignificant: maxSignificant === undefined ? minSignificant : minSignificant ?? 1,
      maxSignificant: minSignificant === undefined ? maxSignificant : maxSignificant ?? 21,
      compactRounding,
      trailingZeroDisplay: option(options, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 'auto'),
    };
  }

  static supportedLocalesOf(locales: unknown): string[] { return supported(locales); }

  get format(): (value: number | bigint | string) => string {
    return this.#format ??= value => join(this.formatToParts(value));
  }

  resolvedOptions(): object {
    const { minSignificant, maxSignificant, compactRounding: _, ...o } = this.#o;
    const kept = Object.entries(o).filter(([name, value]) => value !== undefined
      && (o.style === 'currency' || !name.startsWith('currency')) && (o.style === 'unit' || !name.startsWith('unit')) && (o.notation === 'compact' || name !== 'compactDisplay'));
    return { ...Object.fromEntries(kept), ...minSignificant === undefined ? {} : { minimumSignificantDigits: minSignificant, maximumSignificantDigits: maxSignificant }, roundingMode: 'halfExpand' };
  }

  formatRange(from: number | bigint, to: number | bigint): string {
    const [a, b] = [this.format(from), this.format(to)];
    return a === b ? `~${a}` : `${a}–${b}`;
  }

  formatToParts(given: number | bigint | string = NaN): Part[] {
    const value = typeof given === 'bigint' ? given : typeof given === 'string' && /^\s*-?\d+\s*$/.test(given) ? BigInt(given) : Number(given);
    const d = this.#data;
    const negative = typeof value === 'bigint' ? value < 0n : value < 0 || Object.is(value, -0);
    let body: Part[];
    let zero = false;
    let compact: PerCategory | undefined;
    let category = 'other';
    if (typeof value === 'number' && !Number.isFinite(value)) {
      body = [Number.isNaN(value) ? { type: 'nan', value: d.nan } : { type: 'infinity', value: d.infinity }];
    } else {
      const made = this.#digits(decimal(value));
      ({ body, zero, compact, category } = made);
    }
    return this.#dress(body, negative, zero, Number.isNaN(value), category, compact);
  }

  /** Returns the digits of a number in groups, with its notation. */
  #digits(n: Decimal): { body: Part[]; zero: boolean; category: string; compact: PerCategory | undefined } {
    const { notation } = this.#o;
    if (this.#o.style === 'percent' && n.digits)
      n = { ...n, point: n.point + 2 };
    let exponent = 0;
    let compact: PerCategory | undefined;
    let category: string | undefined;
    let rounded = this.#round(n);
    if (notation === 'compact') {
      const table = this.#data.compact[this.#o.compactDisplay];
      const entryOf = (x: Decimal) => (x.point > 3 ? table[Math.min(x.point, 15) - 4] : undefined);
      let entry = entryOf(n);
      rounded = this.#round({ ...n, point: n.point - (entry?.[0] ?? 0) });
      const again = entryOf({ ...rounded, point: rounded.point + (entry?.[0] ?? 0) }); // 999,999 is 1M
      if (again && again[0] !== entry?.[0]) {
        entry = again;
        rounded = this.#round({ ...n, point: n.point - entry[0] });
      }
      compact = entry?.[1];
    } else if (notation !== 'standard' && n.digits) {
      const step = notation === 'engineering' ? 3 : 1;
      exponent = Math.floor((n.point - 1) / step) * step;
      rounded = this.#round({ ...n, point: n.point - exponent });
      if (rounded.point > step) { // 999.9999 was rounded to 1000
        exponent += step;
        rounded = { ...rounded, point: rounded.point - step };
      }
    }
    const { minSignificant } = this.#o;
    const least = minSignificant !== undefined ? Math.max(minSignificant - Math.max(rounded.point, rounded.digits ? -1e9 : 1), 0) : this.#o.compactRounding ? 0 : this.#o.minimumFractionDigits;
    let [integer, fraction] = spread(rounded, least);
    if (this.#o.trailingZeroDisplay === 'stripIfInteger' && /^0*$/.test(fraction))
      fraction = '';
    category = host.plural(this.#o.locale, false, integer, fraction);
    const body = this.#grouped(integer.padStart(this.#o.minimumIntegerDigits, '0'));
    if (fraction)
      body.push({ type: 'decimal', value: this.#data.decimal }, { type: 'fraction', value: fraction });
    if (notation === 'scientific' || notation === 'engineering') {
      body.push({ type: 'exponentSeparator', value: 'E' });
      if (exponent < 0)
        body.push({ type: 'exponentMinusSign', value: this.#data.minus });
      body.push({ type: 'exponentInteger', value: String(Math.abs(exponent)) });
    }
    return { body, zero: !rounded.digits, category, compact };
  }

  #round(n: Decimal): Decimal {
    const o = this.#o;
    if (o.maxSignificant !== undefined)
      return round(n, o.maxSignificant);
    if (o.compactRounding)
      return round(n, Math.max(2, n.point));
    return round(n, n.point + o.maximumFractionDigits);
  }

  #grouped(digits: string): Part[] {
    const { group, groups: [first, others], smallestGrouped } = this.#data;
    const { useGrouping } = this.#o;
    const least = useGrouping === 'always' ? 1 : useGrouping === 'min2' ? 2 : smallestGrouped;
    if (!useGrouping || !group || digits.length < first + least)
      return [{ type: 'integer', value: digits }];
    const pieces = [digits.slice(-first)];
    for (let end = digits.length - first; end > 0; end -= others)
      pieces.unshift(digits.slice(Math.max(end - others, 0), end));
    return pieces.flatMap((value, i) => [...i ? [{ type: 'group', value: group }] : [], { type: 'integer', value }]);
  }

  /** Puts the sign and the style's text (currency, unit, percent) around the digits. */
  #dress(body: Part[], negative: boolean, zero: boolean, nan: boolean, category: string, compact: PerCategory | undefined): Part[] {
    const d = this.#data;
    const o = this.#o;
    let sign = '';
    switch (o.signDisplay) {
      case 'auto': sign = negative ? '-' : ''; break;
      case 'always': sign = negative ? '-' : '+'; break;
      case 'exceptZero': sign = zero || nan ? '' : negative ? '-' : '+'; break;
      case 'negative': sign = negative && !zero ? '-' : ''; break;
    }
    const currency = o.currency === undefined ? undefined : d.currencies[o.currency];
    const symbol = o.currencyDisplay === 'narrowSymbol' ? currency?.narrow : o.currencyDisplay === 'symbol' ? currency?.symbol : undefined;
    // A space separates a currency's code from the number, but not always its symbol.
    const spaced = symbol === undefined || /^[A-Z]{2,}$/.test(symbol);
    const named = o.style === 'currency' && o.currencyDisplay === 'name';
    const kind = o.style === 'percent' ? 'percent' : o.style !== 'currency' || named ? 'decimal' : o.currencySign === 'accounting' ? 'accounting' : spaced ? 'code' : 'currency';
    const pattern = d.patterns[kind][sign === '' || sign === '+' && kind === 'accounting' ? 0 : 1];
    const inner = compact ? fill(compact[category] ?? compact['other']!, () => body, 'compact').map(p => (/^\s+$/.test(p.value) ? { ...p, type: 'literal' } : p)) : body;
    const whole = fill(sign === '+' && kind === 'accounting' ? `{-}${pattern}` : pattern, name => {
      switch (name) {
        case 'n': return inner;
        case '-': return sign === '+' ? { type: 'plusSign', value: d.plus } : { type: 'minusSign', value: d.minus };
        case '%': return { type: 'percentSign', value: d.percent };
        default: return { type: 'currency', value: symbol ?? o.currency! };
      }
    });
    if (named)
      return fill(currency?.names[category] ?? currency?.names['other'] ?? `{n} ${o.currency}`, () => whole, 'currency');
    if (o.style === 'unit') {
      const unit = d.units[o.unit!]?.[styles.indexOf(o.unitDisplay)];
      return fill(unit?.[category] ?? unit?.['other'] ?? `{n} ${o.unit}`, () => whole, 'unit');
    }
    return whole;
  }
}

/** Selects the plural form for a number. */
export class PluralRules {
  #locale;
  #ordinal;
  #digits;

  constructor(locales?: unknown, options: Options = {}) {
    this.#locale = resolve(locales).locale;
    this.#ordinal = option(options, 'type', ['cardinal', 'ordinal'], 'cardinal') === 'ordinal';
    this.#digits = new NumberFormat('en-US', { ...options, style: 'decimal', useGrouping: false });
  }

  static supportedLocalesOf(locales: unknown): string[] { return supported(locales); }

  select(value: number): string {
    if (!Number.isFinite(Number(value)))
      return 'other';
    const parts = this.#digits.formatToParts(Math.abs(Number(value)));
    const part = (type: string) => parts.find(p => p.type === type)?.value ?? '';
    return host.plural(this.#locale, this.#ordinal, part('integer'), part('fraction'));
  }

  resolvedOptions(): object {
    return { locale: this.#locale, type: this.#ordinal ? 'ordinal' : 'cardinal' };
  }
}
