// Intl.DateTimeFormat.

import { host } from '../core/host.ts';
import { fill, join, numeric, option, type Part, resolve, supported } from './locale.ts';

const widths = ['numeric', '2-digit'] as const;
const texts = ['long', 'short', 'narrow'] as const;
const styleNames = ['full', 'long', 'medium', 'short'] as const;
const letter: Record<string, string> = { 'numeric': 'd', '2-digit': '2', 'long': 'l', 'short': 's', 'narrow': 'n' };
const key = (...given: (string | undefined)[]) => given.map(w => (w === undefined ? '-' : letter[w]!)).join('');

type Options = Record<string, unknown>;

/** The fields of a time in a time zone. */
interface Fields { year: number; month: number; day: number; weekday: number; hour: number; minute: number; second: number; ms: number; offset: number; abbreviation: string }

/** Formats dates and times in a locale. */
export class DateTimeFormat {
  #o;
  #data;
  #format: ((value?: Date | number) => string) | undefined;

  constructor(locales?: unknown, options: Options = {}, fields: 'date' | 'time' | 'any' = 'any', defaults: 'date' | 'time' | 'all' = 'date') {
    const { locale, data } = resolve(locales);
    this.#data = data.dates;
    const o = {
      weekday: option(options, 'weekday', texts), era: option(options, 'era', texts), year: option(options, 'year', widths),
      month: option(options, 'month', [...widths, ...texts]), day: option(options, 'day', widths), hour: option(options, 'hour', widths),
      minute: option(options, 'minute', widths), second: option(options, 'second', widths), fraction: numeric(options, 'fractionalSecondDigits', 1, 3),
      dayPeriod: option(options, 'dayPeriod', texts),
      timeZoneName: option(options, 'timeZoneName', ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric']),
      dateStyle: option(options, 'dateStyle', styleNames), timeStyle: option(options, 'timeStyle', styleNames),
    };
    const zone = options['timeZone'] === undefined ? 'UTC' : String(options['timeZone']);
    const timeZone = host.zoneName(zone);
    if (timeZone === null)
      throw new RangeError(`Invalid time zone specified: ${zone}`);
    const someDate = o.weekday ?? o.year ?? o.month ?? o.day;
    const someTime = o.hour ?? o.minute ?? o.second ?? o.fraction ?? o.dayPeriod;
    if ((o.dateStyle ?? o.timeStyle) !== undefined) {
      if ((someDate ?? someTime ?? o.timeZoneName) !== undefined)
        throw new TypeError(`Can't set option ${Object.keys(o).find(k => o[k as 'day'] !== undefined)} when ${o.dateStyle ? 'dateStyle' : 'timeStyle'} is used`);
      if (fields === 'date' && o.timeStyle !== undefined || fields === 'time' && o.dateStyle !== undefined)
        throw new TypeError(`Invalid option : ${fields === 'date' ? 'timeStyle' : 'dateStyle'}`);
    } else if ((fields === 'time' || someDate === undefined) && (fields === 'date' || someTime === undefined)) {
      if (defaults !== 'time')
        o.year = o.month = o.day = 'numeric';
      if (defaults !== 'date')
        o.hour = o.minute = o.second = 'numeric';
    }
    const cycle = option(options, 'hourCycle', ['h11', 'h12', 'h23', 'h24']);
    const hour12 = options['hour12'];
    const usual = this.#data.hourCycle;
    // The meaning of hour12 depends on the locale, as in V8.
    const hourCycle = hour12 === undefined ? cycle ?? usual : hour12 ? usual === 'h12' ? 'h12' : 'h11' : usual === 'h12' ? 'h24' : 'h23';
    this.#o = { locale, timeZone, hourCycle, ...o };
  }

  static supportedLocalesOf(locales: unknown): string[] { return supported(locales); }

  get format(): (value?: Date | number) => string {
    return this.#format ??= value => join(this.formatToParts(value));
  }

  resolvedOptions(): object {
    const { locale, timeZone, hourCycle, fraction, ...rest } = this.#o;
    const timed = rest.hour !== undefined || rest.timeStyle !== undefined;
    const kept = Object.fromEntries(Object.entries(rest).filter(([, v]) => v !== undefined));
    return {
      locale, calendar: 'gregory', numberingSystem: 'latn', timeZone, ...timed ? { hourCycle, hour12: hourCycle === 'h12' || hourCycle === 'h11' } : {},
      ...kept, ...fraction === undefined ? {} : { fractionalSecondDigits: fraction },
    };
  }

  formatToParts(value?: Date | number): Part[] {
    const f = this.#fields(value === undefined ? Date.now() : Number(value));
    return fill(this.#pattern(), name => this.#field(name, f));
  }

  formatRange(from: Date | number, to: Date | number): string { return join(this.formatRangeToParts(from, to)); }

  formatRangeToParts(from: Date | number, to: Date | number): Part[] {
    const [a, b] = [this.formatToParts(from), this.formatToParts(to)];
    return join(a) === join(b) ? a : [...a, { type: 'literal', value: ' – ' }, ...b];
  }

  #fields(time: number): Fields {
    if (!(Math.abs(time) <= 8.64e15))
      throw new RangeError('Invalid time value');
    const [minutes, abbreviation] = host.zone(this.#o.timeZone, time).split(' ') as [string, string];
    const offset = Number(minutes);
    const d = new Date(time + offset * 60_000);
    return {
      year: d.getUTCFullYear(), month: d.getUTCMonth(), day: d.getUTCDate(), weekday: d.getUTCDay(), hour: d.getUTCHours(),
      minute: d.getUTCMinutes(), second: d.getUTCSeconds(), ms: d.getUTCMilliseconds(), offset, abbreviation,
    };
  }

  /** Describes the format as a pattern. */
  #pattern(): string {
    const o = this.#o;
    const d = this.#data;
    const cycle = o.hourCycle === 'h12' || o.hourCycle === 'h11' ? 'h12' : 'h23';
    let date = '', time = '', glue = ', ';
    if (o.dateStyle ?? o.timeStyle) {
      date = o.dateStyle ? d.dateStyles[o.dateStyle]! : '';
      time = o.timeStyle ? d.timeStyles[cycle + o.timeStyle]! : '';
      glue = o.dateStyle ? d.styleGlues[o.dateStyle]! : '';
    } else {
      const dateKey = key(o.weekday, o.year, o.month, o.day);
      date = dateKey === '----' ? '' : d.patterns[dateKey] ?? d.patterns[key(o.weekday && 'short', o.year, o.month === 'narrow' ? 'short' : o.month, o.day)] ?? '';
      glue = d.glues[dateKey] ?? ', ';
      const second = o.second ?? (o.fraction === undefined ? undefined : 'numeric');
      const timeKey = key(o.hour, o.minute && 'numeric', second && 'numeric');
      time = timeKey === '---' ? '' : d.times[cycle + timeKey]!;
      if (o.fraction !== undefined)
        time = time.replace(/\{ss?\}/, '$&.{f}');
      if (o.timeZoneName)
        [date, time] = time ? [date, `${time} {z}`] : [`${date}, {z}`, ''];
    }
    return date + (date && time ? glue : '') + time;
  }

  #field(name: string, f: Fields): Part {
    const two = (n: number) => String(n).padStart(2, '0');
    const d = this.#data;
    const hour = this.#o.hourCycle === 'h12' ? f.hour % 12 || 12 : this.#o.hourCycle === 'h11' ? f.hour % 12 : this.#o.hourCycle === 'h24' ? f.hour || 24 : f.hour;
    switch (name) {
      case 'y': return { type: 'year', value: String(f.year) };
      case 'yy': return { type: 'year', value: two(Math.abs(f.year) % 100) };
      case 'M': return { type: 'month', value: String(f.month + 1) };
      case 'MM': return { type: 'month', value: two(f.month + 1) };
      case 'd': return { type: 'day', value: String(f.day) };
      case 'dd': return { type: 'day', value: two(f.day) };
      case 'h': return { type: 'hour', value: String(hour) };
      case 'hh': return { type: 'hour', value: two(hour) };
      case 'm': return { type: 'minute', value: String(f.minute) };
      case 'mm': return { type: 'minute', value: two(f.minute) };
      case 's': return { type: 'second', value: String(f.second) };
      case 'ss': return { type: 'second', value: two(f.second) };
      case 'f': return { type: 'fractionalSecond', value: String(f.ms).padStart(3, '0').slice(0, this.#o.fraction) };
      case 'a': return { type: 'dayPeriod', value: d.periods[f.hour < 12 ? 0 : 1] };
      case 'z': return { type: 'timeZoneName', value: this.#zone(f) };
    }
    const list = Number(name.slice(1));
    return name[0] === 'E' ? { type: 'weekday', value: d.weekdays[list]![f.weekday]! } : { type: 'month', value: d.months[list]![f.month]! };
  }

  #zone(f: Fields): string {
    const style = this.#o.timeZoneName ?? (this.#o.timeStyle === 'full' ? 'long' : 'short');
    const names = this.#data.zones[this.#o.timeZone]?.[f.offset];
    if (names && style !== 'shortOffset' && style !== 'longOffset')
      return names[style.startsWith('long') ? 1 : 0];
    if (f.offset === 0)
      return 'GMT';
    const [hours, minutes] = [Math.floor(Math.abs(f.offset) / 60), Math.abs(f.offset) % 60];
    const long = style.startsWith('long');
    return `GMT${f.offset < 0 ? '-' : '+'}${long ? String(hours).padStart(2, '0') : hours}${long || minutes ? `:${String(minutes).padStart(2, '0')}` : ''}`;
  }
}
