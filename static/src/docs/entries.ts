/** A field of an object or of a call's request. */
export interface Field { name: string; does: string }

/**
 * What the search knows of a call, an object, a message, an error, a section or a group. `id` is its anchor and its name; `also` is what people call
 * it. Of a `twin`, another call does the same, and is meant.
 */
export interface Entry { id: string; kind: string; method?: string; path?: string; title: string; words?: string; also?: string; twin?: boolean; fields?: Field[]; address: string }

/** An entry that was found, with the field for which it was, if it was not for its name or its words. */
export interface Found { entry: Entry; field?: Field }

/** How many entries the search shows. */
const SHOWN = 12;

/** Ranks of what is not found by a name: a lower one is shown first. */
const RANK = { group: 0.5, twin: 6, objectField: 7 };

/** The shortest word (letters) that may have a wrong letter, and the shortest one of which that may be only the beginning. */
const MISTYPED = 4;
const MISTYPED_BEGINNING = 5;

/** Words that say nothing about what is searched for. */
const SMALL = new Set(['a', 'an', 'the', 'for', 'of', 'to', 'in', 'on', 'with', 'and', 'or', 'my', 'i', 'how', 'do', 'is']);

/** A word of a search, as the beginnings of words that it may mean. */
type Wanted = readonly string[];

/**
 * Returns the entries that have all words of a search: first by what people call them, then by their names, their paths, what they do, and their
 * fields. Calls go before objects that only have such a field. If nothing has the words, each may have one wrong letter.
 */
export function foundIn(all: readonly Entry[], search: string): Found[] {
  const words = wordsOf(search);
  if (words.length === 0) return [];
  const found = having(all, words.map((word) => [stemOf(word)]));
  if (found.length > 0) return found;
  const known = new Set(all.flatMap((entry) => textsOf(entry).flatMap((text) => text.trim().split(' '))));
  return having(all, words.map((word) => meant(word, known)));
}

function having(all: readonly Entry[], wanted: readonly Wanted[]): Found[] {
  const found: (Found & { rank: number })[] = [];
  for (const entry of all) {
    const texts = textsOf(entry);
    if (!has(texts.join(' '), wanted)) continue;
    const at = texts.findIndex((text) => has(text, wanted));
    const byField = at < 0 || at === texts.length - 1;
    found.push({ entry, field: byField ? fieldOf(entry, wanted) : undefined, rank: rankOf(entry, at < 0 ? texts.length : at, byField) });
  }
  return found.sort((a, b) => a.rank - b.rank).slice(0, SHOWN).map(({ entry, field }) => ({ entry, field }));
}

/** Returns the texts of an entry as `searched` writes them, from the one that says most about it to its fields. */
function textsOf({ id, kind, method, path, title, words, also, fields = [] }: Entry): string[] {
  const rest = [words, ...fields.map(({ name }) => name)].join(' ');
  return (method ? [also, `${method} ${id}`, path, title, rest] : [also, kind, '', title, rest]).map(searched);
}

function rankOf({ kind, twin }: Entry, at: number, byField: boolean): number {
  if (twin) return RANK.twin + at / 10;
  if (byField && kind === 'Object') return RANK.objectField;
  return (kind === 'Group' || kind === 'Section') && !byField ? Math.min(at, RANK.group) : at;
}

/** Returns the field that has most words of a search, or none. Of several, it is the one with the last word, as in "takeover timeout". */
function fieldOf({ fields = [] }: Entry, wanted: readonly Wanted[]): Field | undefined {
  const score = ({ name }: Field): number => wanted.reduce((sum, word, i) => sum + (has(searched(name), [word]) ? wanted.length + i : 0), 0);
  const most = Math.max(1, ...fields.map(score));
  return fields.find((field) => score(field) === most);
}

/** Returns the words of a search without small ones. A search of nothing but small words keeps them. */
function wordsOf(search: string): string[] {
  const all = search.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const large = all.filter((word) => !SMALL.has(word));
  return large.length > 0 ? large : all;
}

/** Returns a word without its ending: `end` for ends, ended and ending. */
function stemOf(word: string): string {
  const stem = word.replace(/(?<=\w{3})(ing|ed|(?<=s|x|ch|sh)es|(?<!s)s)$/, '');
  return stem === word ? word : stem.replace(/([^aeiouls])\1$/, '$1'); // stopped, logged
}

/** Returns a word if a known one begins with it, or else the known words that it is with one wrong letter. */
function meant(word: string, known: ReadonlySet<string>): Wanted {
  const stem = stemOf(word);
  if (word.length < MISTYPED || [...known].some((each) => each.startsWith(stem))) return [stem];
  const like = [...known].filter((each) => each.length >= MISTYPED && (
    oneOff(word, each) || oneOff(stem, stemOf(each)) || word.length >= MISTYPED_BEGINNING && [-1, 0, 1].some((more) => oneOff(word, each.slice(0, word.length + more)))));
  return [stem, ...like.map(stemOf)];
}

/** Returns whether two words differ by one letter: another one, one more, one less, or two that changed places. */
function oneOff(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const [x, y] = [a.slice(at), b.slice(at)];
  return x.slice(1) === y.slice(1) || x.slice(1) === y || x === y.slice(1) || x.slice(2) === y.slice(2) && x[0] === y[1] && x[1] === y[0];
}

/** Returns a text as its words, with a space before each. The parts of a name such as `requestTakeover` are words, too. */
function searched(text = ''): string {
  const parts = text.replace(/([a-z])(?=[A-Z])/g, '$1 ');
  return ` ${`${text} ${parts}`.toLowerCase().replace(/[^a-z0-9]+/g, ' ')}`;
}

/** Returns whether each wanted word begins a word of a text. */
function has(text: string, wanted: readonly Wanted[]): boolean {
  return wanted.every((word) => word.some((beginning) => text.includes(` ${beginning}`)));
}
