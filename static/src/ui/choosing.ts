import { h } from './dom.js';

/** What a field with a list offers. */
export interface Offer<T> {
  /** Returns what a search finds, the best first. */
  find(search: string): readonly T[];
  /** Returns what a row shows. */
  show(entry: T): Node[];
  choose(entry: T): void;
  /** Returns the heading of an entry, which stands above the first of those in a row that have it. "" is for none. */
  heading?(entry: T): string;
}

/**
 * Lets a person choose from a list by typing into a field: arrows move the marked row, Enter chooses it, and so does a click. Returns a function that
 * draws the list again, for when there is more to find: what is marked stays so, and Enter that came before there was anything chooses now.
 */
export function enableChoosing<T>(field: HTMLInputElement, list: HTMLElement, { find, show, choose, heading = () => '' }: Offer<T>): () => void {
  let shown: readonly T[] = [];
  let rows: HTMLElement[] = [];
  let at = 0;
  /** Enter was pressed before anything was found. */
  let early = false;
  const mark = (): void => {
    for (const [i, row] of rows.entries()) row.setAttribute('aria-selected', String(i === at));
    const row = rows[at];
    if (row) field.setAttribute('aria-activedescendant', row.id);
    else field.removeAttribute('aria-activedescendant');
    if (at === 0) list.scrollTop = 0; // with its heading
    else row?.scrollIntoView({ block: 'nearest' });
  };
  const draw = (): void => {
    const marked = shown[at];
    shown = find(field.value);
    at = marked ? Math.max(0, shown.indexOf(marked)) : 0;
    rows = shown.map((entry, i) => h('li', { id: `${list.id}-${i}`, role: 'option', class: 'palette-row', on: { click: () => choose(entry) } }, ...show(entry)));
    const titles = shown.map(heading);
    list.replaceChildren(...rows.flatMap((row, i) => {
      const title = titles[i] !== titles[i - 1] && titles[i];
      return title ? [h('li', { class: 'palette-heading', role: 'presentation', text: title }), row] : [row];
    }));
    if (shown.length === 0) list.append(h('li', { class: 'palette-row meta', role: 'option', 'aria-disabled': 'true', text: 'Nothing matches.' }));
    mark();
    const first = shown[0];
    if (!early || first === undefined) return;
    early = false;
    choose(first);
  };
  field.addEventListener('input', () => {
    at = -1;
    early = false;
    draw();
  });
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && shown.length) {
      at = (at + by + shown.length) % shown.length;
      mark();
    } else if (event.key === 'Enter') {
      const entry = shown[at];
      if (entry !== undefined) choose(entry);
      else early = true;
    } else return;
    event.preventDefault();
  });
  return draw;
}
