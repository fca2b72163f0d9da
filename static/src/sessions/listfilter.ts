import { byId, h, show } from '../ui/dom.js';

const STATES: [string, string][] = [['', 'All'], ['waiting', 'Waiting'], ['live', 'Live'], ['ended', 'Ended'], ['failed', 'Failed']];

/** Whether an entry of the list is shown. Several words are looked for each by itself. */
export function matches(search: string, states: string, text: string, state: string): boolean {
  if (state && !states.split(' ').includes(state)) return false;
  const all = search.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

/** Narrows the list of sessions down by text and status. */
export class ListFilter {
  #text = byId<HTMLInputElement>('list-search');
  #state = '';

  constructor() {
    this.#text.addEventListener('input', () => this.apply());
    const host = byId('list-states');
    for (const [state, label] of STATES) {
      host.append(h('button', { type: 'button', class: 'chip', 'aria-pressed': String(state === ''), 'data-of': state, on: { click: () => this.#choose(state) } }, label));
    }
    this.apply();
  }

  #choose(state: string): void {
    this.#state = state;
    for (const chip of byId('list-states').children) chip.setAttribute('aria-pressed', String((chip as HTMLElement).dataset.of === state));
    this.apply();
  }

  /** Goes over the list as it is now, as after it was drawn again. */
  apply(): void {
    const active = this.#state !== '' || this.#text.value.trim() !== '';
    let any = false;
    for (const section of byId('live').querySelectorAll<HTMLElement>('section')) {
      let here = 0;
      for (const entry of section.querySelectorAll<HTMLElement>('[data-search]')) {
        const shown = matches(entry.dataset.search ?? '', entry.dataset.states ?? '', this.#text.value.trim(), this.#state);
        show(entry, shown);
        if (shown) here++;
      }
      show(section, !active || here > 0);
      any ||= here > 0;
    }
    show(byId('no-match'), active && !any);
  }
}
