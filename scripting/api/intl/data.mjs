// Asks Node's own Intl, at build time, for what scripts' Intl needs to know about
// each locale. Patterns are text with names in braces; numbers.ts, dates.ts and
// words.ts fill them in.

/** Locales whose data is kept. */
export const locales = [
  'en-US', 'en-GB', 'en-AU', 'en-CA', 'en-IN', 'de', 'de-AT', 'de-CH', 'fr', 'fr-CA', 'es', 'es-MX', 'it', 'pt-BR', 'pt-PT', 'nl', 'pl', 'sv',
  'da', 'nb', 'fi', 'cs', 'ru', 'uk', 'tr', 'ja', 'zh-CN', 'zh-TW', 'ko', 'he', 'el', 'hu', 'ro',
];

const currencies = [
  'USD', 'EUR', 'GBP', 'JPY', 'CNY', 'INR', 'CHF', 'CAD', 'AUD', 'NZD', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK', 'HUF', 'RON', 'RUB', 'UAH', 'TRY',
  'BRL', 'MXN', 'ARS', 'CLP', 'COP', 'KRW', 'TWD', 'HKD', 'SGD', 'THB', 'IDR', 'MYR', 'PHP', 'VND', 'ILS', 'AED', 'SAR', 'EGP', 'ZAR', 'NGN',
];
const units = [
  'byte', 'kilobyte', 'megabyte', 'gigabyte', 'second', 'millisecond', 'minute', 'hour', 'day', 'week', 'month', 'year', 'kilometer', 'meter', 'centimeter',
  'mile', 'foot', 'inch', 'kilogram', 'gram', 'pound', 'liter', 'celsius', 'fahrenheit', 'percent', 'kilometer-per-hour', 'mile-per-hour',
];
const zones = [
  'UTC', 'America/New_York', 'America/Chicago', 'America/Denver', 'America/Phoenix', 'America/Los_Angeles', 'America/Anchorage', 'America/Toronto',
  'America/Sao_Paulo', 'America/Mexico_City', 'Pacific/Honolulu', 'Europe/London', 'Europe/Dublin', 'Europe/Lisbon', 'Europe/Berlin', 'Europe/Paris',
  'Europe/Madrid', 'Europe/Rome', 'Europe/Amsterdam', 'Europe/Zurich', 'Europe/Vienna', 'Europe/Stockholm', 'Europe/Warsaw', 'Europe/Prague', 'Europe/Athens',
  'Europe/Helsinki', 'Europe/Kyiv', 'Europe/Istanbul', 'Europe/Moscow', 'Asia/Dubai', 'Asia/Kolkata', 'Asia/Calcutta', 'Asia/Singapore', 'Asia/Shanghai',
  'Asia/Hong_Kong', 'Asia/Tokyo', 'Asia/Seoul', 'Australia/Sydney', 'Pacific/Auckland', 'Asia/Jerusalem', 'Africa/Cairo', 'Africa/Johannesburg',
];
const styles = ['long', 'short', 'narrow'];

/** The letters that stand for widths in the keys of patterns. */
const letter = { '': '-', numeric: 'd', '2-digit': '2', long: 'l', short: 's', narrow: 'n' };

/** Returns the data of a locale. */
export function localeData(locale) {
  return { numbers: numbers(locale), dates: dates(locale), relative: relative(locale), lists: lists(locale) };
}

/** Returns one number for each plural category that the locale has. */
function samples(locale) {
  const rules = new Intl.PluralRules(locale);
  const found = {};
  for (const n of [1, 2, 3, 5, 0, ...Array.from({ length: 120 }, (_, i) => i), 1.5, 1e6])
    found[rules.select(n)] ??= n;
  return Object.entries(found);
}

const numeric = new Set(['integer', 'group', 'decimal', 'fraction', 'exponentInteger', 'exponentSeparator', 'exponentMinusSign']);

/** Joins parts to a pattern: the parts of the number become {n}, and parts whose type is in fields become the text given there. */
function pattern(parts, fields) {
  let out = '';
  for (const { type, value } of parts) {
    const field = numeric.has(type) ? '{n}' : fields[type] ?? value;
    if (field !== '{n}' || !out.endsWith('{n}'))
      out += field;
  }
  return out;
}

function numbers(locale) {
  const nf = options => new Intl.NumberFormat(locale, options);
  const fields = { minusSign: '{-}', plusSign: '{-}', currency: '{c}', percentSign: '{%}' };
  const both = options => [5, -5].map(v => pattern(nf(options).formatToParts(v), fields));
  const plain = nf({}).formatToParts(-123456789.5);
  const part = (parts, type) => parts.find(p => p.type === type)?.value;
  const groups = plain.filter(p => p.type === 'integer').map(p => p.value.length);
  const perCategory = make => Object.fromEntries(samples(locale).map(([category, n]) => [category, make(n)]));
  const compact = style => {
    const list = [];
    for (let k = 3; k <= 14; k++) {
      const parts = nf({ notation: 'compact', compactDisplay: style }).formatToParts(2 * 10 ** k); // some locales write no number for 1
      const shown = Number(parts.filter(p => p.type === 'integer').map(p => p.value).join(''));
      list.push([k - Math.floor(Math.log10(shown)), perCategory(n => pattern(nf({ notation: 'compact', compactDisplay: style }).formatToParts(n * 10 ** k), fields))]);
    }
    return list;
  };
  return {
    decimal: part(plain, 'decimal') ?? '.',
    group: part(plain, 'group') ?? '',
    groups: [groups.at(-1), groups.at(-2) ?? groups.at(-1)],
    smallestGrouped: nf({}).formatToParts(1234).some(p => p.type === 'group') ? 1 : 2,
    minus: part(plain, 'minusSign') ?? '-',
    plus: part(nf({ signDisplay: 'always' }).formatToParts(1), 'plusSign') ?? '+',
    percent: part(nf({ style: 'percent' }).formatToParts(1), 'percentSign') ?? '%',
    nan: nf({}).format(NaN),
    infinity: nf({}).format(Infinity),
    patterns: {
      decimal: both({}),
      percent: both({ style: 'percent' }),
      currency: both({ style: 'currency', currency: 'USD' }),
      code: both({ style: 'currency', currency: 'USD', currencyDisplay: 'code' }),
      accounting: both({ style: 'currency', currency: 'USD', currencySign: 'accounting' }),
    },
    currencies: Object.fromEntries(currencies.map(currency => [currency, {
      symbol: part(nf({ style: 'currency', currency }).formatToParts(1), 'currency'),
      narrow: part(nf({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' }).formatToParts(1), 'currency'),
      names: perCategory(n => pattern(nf({ style: 'currency', currency, currencyDisplay: 'name' }).formatToParts(n), { currency: undefined })),
    }])),
    compact: { short: compact('short'), long: compact('long') },
    units: Object.fromEntries(units.map(unit => [unit, styles.map(unitDisplay => perCategory(n => pattern(nf({ style: 'unit', unit, unitDisplay }).formatToParts(n), {})))])),
  };
}

function relative(locale) {
  const out = {};
  for (const unit of ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']) {
    out[unit] = styles.map(style => {
      const always = new Intl.RelativeTimeFormat(locale, { style });
      const auto = new Intl.RelativeTimeFormat(locale, { style, numeric: 'auto' });
      const words = {};
      for (const n of [-2, -1, 0, 1, 2]) {
        const parts = auto.formatToParts(n, unit);
        if (parts.length === 1)
          words[n] = parts[0].value;
      }
      const way = sign => Object.fromEntries(samples(locale).map(([category, n]) => [category, pattern(always.formatToParts(n === 0 ? sign * 0 : sign * n, unit), {})]));
      return { words, future: way(1), past: way(-1) };
    });
  }
  return out;
}

function lists(locale) {
  const out = {};
  for (const type of ['conjunction', 'disjunction', 'unit']) {
    out[type] = styles.map(style => {
      const format = new Intl.ListFormat(locale, { type, style });
      const between = items => format.formatToParts(items).filter(p => p.type === 'literal').map(p => p.value);
      return [...between(['A', 'B']), ...between(['A', 'B', 'C', 'D'])];
    });
  }
  return out;
}

const widths = { weekday: ['', 'long', 'short', 'narrow'], year: ['', 'numeric', '2-digit'], month: ['', 'numeric', '2-digit', 'long', 'short', 'narrow'], day: ['', 'numeric', '2-digit'] };
const moment = Date.UTC(2003, 4, 7, 3, 4, 5); // a Wednesday; each field is one digit

function dates(locale) {
  const made = new Map();
  const of = (options, at = moment) => {
    const key = JSON.stringify(options);
    if (!made.has(key))
      made.set(key, new Intl.DateTimeFormat(locale, { timeZone: 'UTC', calendar: 'gregory', ...options }));
    return made.get(key).formatToParts(at);
  };
  const months = Array.from({ length: 12 }, (_, i) => Date.UTC(2003, i, 7));
  const days = Array.from({ length: 7 }, (_, i) => Date.UTC(2003, 5, 1 + i)); // the first is a Sunday
  const named = (options, type, at) => at.map(t => of(options, t).find(p => p.type === type)?.value);
  const names = { M: [], E: [] }; // lists of names; patterns refer to a list by its index
  const nameIn = (kind, list) => {
    const at = names[kind].findIndex(known => known.every((n, i) => n === list[i]));
    return at >= 0 ? at : names[kind].push(list) - 1;
  };
  const digits = value => (/^0\d/.test(value) ? 2 : 1);
  const fill = (parts, options) => parts.map(({ type, value }) => {
    switch (type) {
      case 'weekday': return `{E${nameIn('E', named(options, 'weekday', days))}}`;
      case 'year': return value.length === 2 ? '{yy}' : '{y}';
      case 'month': return /^\d+$/.test(value) ? `{M${'M'.repeat(digits(value) - 1)}}` : `{N${nameIn('M', named(options, 'month', months))}}`;
      case 'day': return digits(value) === 2 ? '{dd}' : '{d}';
      case 'hour': return digits(value) === 2 ? '{hh}' : '{h}';
      case 'minute': return digits(value) === 2 ? '{mm}' : '{m}';
      case 'second': return digits(value) === 2 ? '{ss}' : '{s}';
      case 'dayPeriod': return '{a}';
      case 'timeZoneName': return '{z}';
      default: return value;
    }
  }).join('').replaceAll('\u202f', ' '); // as V8 does

  const clock = { hour: 'numeric', minute: 'numeric' };
  const patterns = {}, glues = {};
  for (const weekday of widths.weekday) for (const year of widths.year) for (const month of widths.month) for (const day of widths.day) {
    const options = Object.fromEntries(Object.entries({ weekday, year, month, day }).filter(([, v]) => v));
    const key = [weekday, year, month, day].map(w => letter[w]).join('');
    if (key === '----' || weekday === 'narrow' && (year || month || day) || month === 'narrow' && (year || weekday))
      continue;
    const date = fill(of(options), options), time = fill(of(clock), clock);
    patterns[key] = date;
    const whole = fill(of({ ...options, ...clock }), options);
    if (whole.startsWith(date) && whole.endsWith(time) && whole.length > date.length + time.length)
      glues[key] = whole.slice(date.length, whole.length - time.length);
  }
  const times = {};
  for (const hourCycle of ['h12', 'h23']) for (const hour of ['', 'numeric', '2-digit']) for (const minute of ['', 'numeric']) for (const second of ['', 'numeric']) {
    const options = Object.fromEntries(Object.entries({ hour, minute, second }).filter(([, v]) => v));
    if (Object.keys(options).length)
      times[hourCycle + [hour, minute, second].map(w => letter[w]).join('')] = fill(of({ ...options, hourCycle }), options);
  }
  const dateStyles = {}, timeStyles = {}, styleGlues = {};
  for (const style of ['full', 'long', 'medium', 'short']) {
    const date = fill(of({ dateStyle: style }), { dateStyle: style });
    dateStyles[style] = date;
    for (const hourCycle of ['h12', 'h23'])
      timeStyles[hourCycle + style] = fill(of({ timeStyle: style, hourCycle }), { timeStyle: style });
    const time = fill(of({ timeStyle: 'short' }), {});
    const whole = fill(of({ dateStyle: style, timeStyle: 'short' }), { dateStyle: style });
    styleGlues[style] = whole.startsWith(date) && whole.endsWith(time) ? whole.slice(date.length, whole.length - time.length) : ', ';
  }
  return {
    patterns, glues, times, dateStyles, timeStyles, styleGlues,
    months: names.M, weekdays: names.E,
    periods: [9, 15].map(h => of({ hour: 'numeric', hourCycle: 'h12' }, Date.UTC(2003, 0, 1, h)).find(p => p.type === 'dayPeriod')?.value ?? ''),
    hourCycle: new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions().hourCycle,
    zones: zoneNames(locale),
  };
}

/** Returns the short and the long name of each time zone, by zone and by offset from UTC in minutes. */
function zoneNames(locale) {
  const out = {};
  for (const timeZone of zones) {
    for (const at of [Date.UTC(2025, 0, 1), Date.UTC(2025, 6, 1)]) {
      const name = timeZoneName => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName }).formatToParts(at).find(p => p.type === 'timeZoneName').value;
      (out[timeZone] ??= {})[offsetOf(timeZone, at)] ??= [name('short'), name('long')];
    }
  }
  return out;
}

const offsets = new Map();

/** Returns a time zone's offset from UTC at a time, in minutes. */
function offsetOf(timeZone, at) {
  const key = timeZone + at;
  if (!offsets.has(key)) {
    const text = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).format(at);
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d+):(\d+))?/.exec(text);
    offsets.set(key, sign ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) : 0);
  }
  return offsets.get(key);
}
