import { host } from '../core/host.ts';
import { format, inspect } from './inspect.ts';

const counts = new Map<string, number>();
const timers = new Map<string, number>();
let indent = '';

function write(level: string, text: string): void {
  host.log(level, indent ? indent + text.replace(/\n/g, '\n' + indent) : text);
}

function elapsed(label: string): string {
  const ms = host.now() - (timers.get(label) ?? host.now());
  return ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${Number(ms.toFixed(3))}ms`;
}

/** The script's console. Each call adds one line to the run's log. */
export const console = {
  debug: (...args: unknown[]) => write('debug', format(args)),
  log: (...args: unknown[]) => write('log', format(args)),
  info: (...args: unknown[]) => write('info', format(args)),
  warn: (...args: unknown[]) => write('warn', format(args)),
  error: (...args: unknown[]) => write('error', format(args)),
  trace: (...args: unknown[]) => write('debug', `Trace: ${format(args)}${host.frames(host.trace())}`),
  dir: (value: unknown, options?: { depth?: number | null }) => write('log', inspect(value, options?.depth === null ? Infinity : options?.depth)),
  dirxml: (...args: unknown[]) => write('log', format(args)),
  assert(condition?: unknown, ...args: unknown[]) {
    if (!condition)
      write('error', args.length ? `Assertion failed: ${format(args)}` : 'Assertion failed');
  },
  count(label = 'default') {
    const n = (counts.get(label) ?? 0) + 1;
    counts.set(label, n);
    write('log', `${label}: ${n}`);
  },
  countReset(label = 'default') { counts.delete(label); },
  time(label = 'default') { timers.set(label, host.now()); },
  timeLog(label = 'default', ...args: unknown[]) { write('log', [`${label}: ${elapsed(label)}`, ...args.map(a => inspect(a))].join(' ')); },
  timeEnd(label = 'default') {
    write('log', `${label}: ${elapsed(label)}`);
    timers.delete(label);
  },
  group(...args: unknown[]) {
    if (args.length)
      write('log', format(args));
    indent += '  ';
  },
  groupCollapsed(...args: unknown[]) { console.group(...args); },
  groupEnd() { indent = indent.slice(2); },
  table(rows: unknown) { write('log', table(rows)); },
  clear() {},
};

function table(rows: unknown): string {
  if (typeof rows !== 'object' || rows === null)
    return inspect(rows);
  const isMap = rows instanceof Map;
  const entries: [string, unknown][] = rows instanceof Map ? [...rows].map(([k, v], i) => [String(i), { Key: k, Values: v }]) : rows instanceof Set ? [...rows].map((v, i) => [String(i), v]) : Object.entries(rows);
  const isRow = (r: unknown): r is Record<string, unknown> => typeof r === 'object' && r !== null;
  const columns = [...new Set(entries.flatMap(([, r]) => (isRow(r) ? Object.keys(r) : [])))];
  const plain = entries.some(([, r]) => !isRow(r));
  // Formats a value on one line, with quotes around text.
  const cell = (v: unknown) => (typeof v === 'string' ? format(['%O', v]) : inspect(v, 0)).replace(/\s*\n\s*/g, ' ');
  const head = [isMap || rows instanceof Set ? '(iteration index)' : '(index)', ...columns, ...plain ? ['Values'] : []];
  const body = entries.map(([k, r]) => [k, ...columns.map(c => (isRow(r) && Object.hasOwn(r, c) ? cell(r[c]) : '')), ...plain ? [isRow(r) ? '' : cell(r)] : []]);
  const widths = head.map((h, i) => Math.max(h.length, ...body.map(l => l[i]!.length)) + 2);
  const row = (l: string[]) => `│${l.map((c, i) => ` ${c}`.padEnd(widths[i]!)).join('│')}│`;
  const rule = (a: string, b: string, c: string) => a + widths.map(w => '─'.repeat(w)).join(b) + c;
  return [rule('┌', '┬', '┐'), row(head), rule('├', '┼', '┤'), ...body.map(row), rule('└', '┴', '┘')].join('\n');
}
