// Lays out the parts of a value for display. If there are few short parts, they share one line. Short items of an array form columns. Otherwise each
// part has its own line.

/** The state while a value is being laid out. */
export interface Layout {
  indent: number;
  /** The level of the object that was shown last. */
  deepest: number;
}

/** The text around the parts. */
export interface Around {
  open: string;
  close: string;
  /** The text before the braces. */
  base: string | undefined;
  /** The level of the object. */
  depth: number;
  /** Whether each part is a single item, so that parts may share a line. */
  whole: boolean;
}

const lineLength = 80;
/** How many levels of objects may share one line. */
const compactLevels = 3;
/** The longest item, with its separator, that goes into columns. */
const longestCell = 6;
const mostColumns = 15;

/** Joins parts and puts braces around them. */
export function lines(parts: string[], a: Around, l: Layout): string {
  const base = a.base === undefined ? '' : `${a.base} `;
  if (!parts.length)
    return `${base}${a.open}${a.close}`;
  if (a.whole && l.deepest - a.depth < compactLevels) {
    const length = parts.reduce((n, p) => n + p.length, 0) + 2 * parts.length + l.indent + a.open.length + (a.base ?? '').length + 10;
    if (length <= lineLength && !parts.some(p => p.includes('\n')) && !base.includes('\n'))
      return `${base}${a.open} ${parts.join(', ')} ${a.close}`;
  }
  const pad = ' '.repeat(l.indent);
  return `${base}${a.open}\n${pad}  ${parts.join(`,\n${pad}  `)}\n${pad}${a.close}`;
}

/** Arranges items in columns, and returns the rows as lines. Returns the items themselves if columns do not suit them. */
export function columns(items: string[], l: Layout, value: unknown, limit: number): string[] {
  const list = value as ArrayLike<unknown>;
  const count = list.length > limit && /^\.\.\. /.test(items[items.length - 1]!) ? items.length - 1 : items.length;
  const widths = items.slice(0, count).map(i => i.length + 2);
  const longest = Math.max(...widths);
  const total = widths.reduce((a, b) => a + b, 0);
  if (longest * 3 + l.indent >= lineLength || !(total / longest > 5 || longest <= longestCell + 2))
    return items;
  // Makes the whole look nearly square; characters are about 2.5 times as high as wide.
  const bias = Math.max(longest - 3 - Math.sqrt(longest - total / items.length), 1);
  const across = Math.min(Math.round(Math.sqrt(2.5 * bias * count) / bias), Math.floor((lineLength - l.indent) / longest), compactLevels * 4, mostColumns);
  if (across <= 1)
    return items;
  const cells = Array.from({ length: across }, (_, c) => Math.max(...widths.filter((_w, i) => i % across === c)));
  const right = Array.prototype.every.call(list, v => typeof v === 'number' || typeof v === 'bigint');
  const out: string[] = [];
  for (let i = 0; i < count; i += across) {
    const row = items.slice(i, Math.min(i + across, count));
    out.push(row.map((item, c) => {
      const last = c === row.length - 1;
      const text = last ? item : `${item}, `;
      return right ? text.padStart(last ? cells[c]! - 2 : cells[c]!) : last ? text : text.padEnd(cells[c]!);
    }).join(''));
  }
  return [...out, ...items.slice(count)];
}
