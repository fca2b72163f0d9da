/** Lines shown before and after the failed line. */
const AROUND = 2;
/** A longer line is cut to this many characters on each side of the column. */
const WIDTH = 80;

/** One line of a frame. Of the failed one, mark says where the word at the column begins and ends. */
export interface FrameLine { line: number; text: string; mark: [from: number, to: number] | null }

/** Returns the lines around a position (line and column from 1) in a script, or none if the position is outside. */
export function codeFrame(code: string, line: number, column: number): FrameLine[] {
  const lines = code.replace(/\n$/, '').split('\n');
  if (line < 1 || line > lines.length) return [];
  const first = Math.max(1, line - AROUND);
  const from = Math.max(0, column - 1 - WIDTH);
  return lines.slice(first - 1, line + AROUND).map((whole, i) => {
    const at = first + i;
    const text = whole.slice(from, from + 2 * WIDTH);
    const start = Math.min(Math.max(0, column - 1 - from), text.length);
    const word = /^[\w$]+|^.?/u.exec(text.slice(start))?.[0] ?? '';
    return { line: at, text, mark: at === line ? [start, start + word.length] : null };
  });
}
