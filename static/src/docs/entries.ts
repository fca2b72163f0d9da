/** What the search knows of a call, an object, a message, an error or a group. `id` is its anchor and its name; `also` is what people call it. */
export interface Entry { id: string; kind: string; method?: string; path?: string; title: string; words?: string; also?: string; address: string }

/** How many entries the search shows. */
const SHOWN = 12;

/** Words that say nothing about what is searched for. */
const SMALL = new Set(['a', 'an', 'the', 'for', 'of', 'to', 'in', 'on', 'with', 'and', 'or', 'my', 'i', 'how', 'do', 'is']);

/** Returns the entries that have all words of a search: first by what people call them, then by their names, their paths, what they do, and their fields. */
export function foundIn(all: readonly Entry[], search: string): Entry[] {
  const wanted = wordsOf(search);
  if (wanted.length === 0) return [];
  const found: { entry: Entry; rank: number }[] = [];
  for (const entry of all) {
    const { id, kind, method, path, title, words, also } = entry;
    const texts = (method ? [also, `${method} ${id}`, path, title, words] : [also, kind, '', title, words]).map(searched);
    if (!has(texts.join(' '), wanted)) continue;
    const at = texts.findIndex((text) => has(text, wanted));
    found.push({ entry, rank: at < 0 ? texts.length : at });
  }
  return found.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry).slice(0, SHOWN);
}

/** Returns the words of a search without small ones and endings. A search of nothing but small words keeps them. */
function wordsOf(search: string): string[] {
  const all = search.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const large = all.filter((word) => !SMALL.has(word));
  return (large.length > 0 ? large : all).map(stemOf);
}

/** Returns a word without its ending: `end` for ends, ended and ending. */
function stemOf(word: string): string {
  const stem = word.replace(/(?<=\w{3})(ing|ed|(?<=s|x|ch|sh)es|(?<!s)s)$/, '');
  return stem === word ? word : stem.replace(/([^aeiouls])\1$/, '$1'); // stopped, logged
}

/** Returns a text as its words, with a space before each. The parts of a name such as `requestTakeover` are words, too. */
function searched(text = ''): string {
  const parts = text.replace(/([a-z])(?=[A-Z])/g, '$1 ');
  return ` ${`${text} ${parts}`.toLowerCase().replace(/[^a-z0-9]+/g, ' ')}`;
}

/** Returns whether each word begins a word of a text. */
function has(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(` ${word}`));
}
