/** Returns whether a text has all words of a search, in any order. */
export function matches(text: string, search: string): boolean {
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/**
 * Returns the entries whose texts together have all words of a search, the best ones first: those whose first text begins with the search, then
 * those that have all words in their first text, in their second, and so on. Entries that are equally good stay in their order.
 */
export function ranked<T>(all: readonly T[], search: string, textsOf: (entry: T) => readonly string[]): T[] {
  const wanted = search.trim().toLowerCase();
  const found: { entry: T; rank: number }[] = [];
  for (const entry of all) {
    const texts = textsOf(entry).map((text) => text.toLowerCase());
    if (!matches(texts.join(' '), wanted)) continue;
    const at = texts.findIndex((text) => matches(text, wanted));
    found.push({ entry, rank: texts[0]?.startsWith(wanted) ? -1 : at < 0 ? texts.length : at });
  }
  return found.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry);
}
