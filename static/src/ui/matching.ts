/** Returns whether a text has all words of a search, in any order. */
export function matches(text: string, search: string): boolean {
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
