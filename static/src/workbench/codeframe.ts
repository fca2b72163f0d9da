/** Lines shown before and after the failed line. */
const AROUND = 2;
/** A line of more characters is cut, the failed one around its column. Three dots stand where it was. */
const WIDTH = 240;
const DOTS = '…';

/** One line of a frame. Of the failed one, mark says where the word at the column begins and ends. */
export interface FrameLine { line: number; text: string; mark: [from: number, to: number] | null }

/** Returns the lines around a position (line and column from 1) in a script, or none if the position is outside. */
export function codeFrame(code: string, line: number, column: number): FrameLine[] {
  const lines = code.replace(/\n$/, '').split('\n');
  if (line < 1 || line > lines.length) return [];
  const first = Math.max(1, line - AROUND);
  return lines.slice(first - 1, line + AROUND).map((whole, i) => {
    const at = first + i;
    const from = at === line && whole.length > WIDTH ? Math.max(0, column - 1 - WIDTH / 2) : 0;
    const before = from > 0 ? DOTS : '';
    const part = whole.slice(from, from + WIDTH);
    const text = `${before}${part}${from + WIDTH < whole.length ? DOTS : ''}`;
    if (at !== line) return { line: at, text, mark: null };
    const start = before.length + Math.min(Math.max(0, column - 1 - from), part.length);
    const word = /^[\w$]+|^.?/u.exec(whole.slice(from + start - before.length, from + WIDTH))?.[0] ?? '';
    return { line: at, text, mark: [start, start + word.length] };
  });
}
