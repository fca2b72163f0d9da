import { byId, setText, show } from '../ui/dom.js';

/** How long (ms) after a change of the filter the server is asked for the list. */
const ASK_AFTER = 200;

/** Returns whether an entry of the list is shown. Several words are searched separately. */
export function matches(search: string, states: string, text: string, state: string): boolean {
  if (state && !states.split(' ').includes(state)) return false;
  const all = search.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

/** Returns how many of a section's entries are shown, in the same words as on the server. */
function shownOf(shown: number, total: number): string {
  return shown === total ? String(total) : `${shown} of ${total}`;
}

/**
 * Filters the session list by text and status. Both are part of the address, so that they can be shared and restored with the back button. The server
 * renders the list by the same rules, and finds sessions that are too old to be listed; `changed` asks it for them.
 */
export class ListFilter {
  #text = byId<HTMLInputElement>('list-search');
  #state = byId('list-states').dataset.state ?? '';
  #chips = [...byId('list-states').querySelectorAll('button')];
  #asking = 0;

  constructor(private readonly changed: () => void) {
    this.#text.addEventListener('input', () => this.#write('replaceState'));
    for (const chip of this.#chips) chip.addEventListener('click', () => this.#choose(chip.dataset.of ?? ''));
    window.addEventListener('popstate', () => this.#read());
    // A browser restores the field's previous text, but the address decides.
    this.#read();
  }

  #choose(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#write('pushState');
  }

  #read(): void {
    const query = new URLSearchParams(location.search);
    const state = query.get('state') ?? '';
    const known = this.#chips.some(({ dataset }) => dataset.of === state) ? state : '';
    const same = known === this.#state && (query.get('q') ?? '') === this.#text.value;
    this.#state = known;
    this.#text.value = query.get('q') ?? '';
    this.apply();
    if (!same) this.#ask();
  }

  #write(how: 'pushState' | 'replaceState'): void {
    const query = new URLSearchParams();
    const text = this.#text.value.trim();
    if (text) query.set('q', text);
    if (this.#state) query.set('state', this.#state);
    history[how](null, '', query.size ? `?${query}` : location.pathname);
    this.apply();
    this.#ask();
  }

  #ask(): void {
    window.clearTimeout(this.#asking);
    this.#asking = window.setTimeout(this.changed, ASK_AFTER);
  }

  /** Filters the list again, for example after it was updated. */
  apply(): void {
    for (const chip of this.#chips) {
      const { of = '' } = chip.dataset;
      chip.setAttribute('aria-pressed', String(of === this.#state));
      setText(chip.querySelector('.count'), byId('live').dataset[of] ?? ''); // the list has the numbers
    }
    const active = this.#state !== '' || this.#text.value.trim() !== '';
    let any = false;
    for (const section of byId('live').querySelectorAll<HTMLElement>('section')) {
      let here = 0;
      for (const entry of section.querySelectorAll<HTMLElement>('[data-search]')) {
        const shown = matches(entry.dataset.search ?? '', entry.dataset.states ?? '', this.#text.value.trim(), this.#state);
        show(entry, shown);
        if (shown) here++;
      }
      show(section, here > 0 || (!active && !section.querySelector('.rows'))); // a section without a list says why
      const count = section.querySelector<HTMLElement>('.count');
      if (count) setText(count, shownOf(here, Number(count.dataset.total)));
      any ||= here > 0;
    }
    show(byId('no-match'), active && !any);
  }
}
