import { ranked } from '../ui/matching.js';

/** What the search knows of a call, an object, a message, an error or a group. `id` is its anchor and its name. */
export interface Entry { id: string; kind: string; method?: string; path?: string; title: string; words?: string; address: string }

/** How many entries the search shows. */
const SHOWN = 12;

/** Returns the entries that have all words of a search: first by their names, then by their paths, then by what they do, then by their fields. */
export function foundIn(all: readonly Entry[], search: string): Entry[] {
  if (!search.trim()) return [];
  return ranked(all, search, ({ id, kind, method, path, title, words }) =>
    kind === 'Call' ? [`${method} ${id}`, path ?? '', title, words ?? ''] : [kind, '', title, words ?? '']).slice(0, SHOWN);
}

/** Shortens a path for a row: all but a few begin alike. */
export function shortPath(path: string): string {
  return path.replace(/^\/v1\/sessions\/:id\//, '…/');
}
