/** Returns the position of a line and column (both from 1) in a text. */
export function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let i = 1; i < line; i++) {
    const next = text.indexOf('\n', at);
    if (next < 0) return text.length + 1;
    at = next + 1;
  }
  return at + column - 1;
}
