import { byId, h, setText, show } from '../../ui/dom.js';
import { shortURL, str } from './describe.js';
import { ALL, type CapturedEvent, type Counts, type Filter, type Standing, type Wanted } from './rows.js';

/** Largest number of listed tabs. */
const TABS = 50;

/** The filter row: kind with counts, text, request status, tab. */
export class Filters {
  wanted: Wanted = { ...ALL };
  #chips = new Map<string, { button: HTMLButtonElement; count: HTMLElement }>();
  /** Tabs by their target's id. */
  #tabs = new Map<string, HTMLOptionElement>();
  #tab = byId<HTMLSelectElement>('events-tab');
  #standing = byId<HTMLSelectElement>('events-standing');

  constructor(private readonly changed: () => void) {
    byId<HTMLInputElement>('events-search').addEventListener('input', (event) => this.#set({ text: (event.target as HTMLInputElement).value.trim().toLowerCase() }));
    this.#standing.addEventListener('change', () => this.#set({ standing: this.#standing.value as Standing }));
    this.#tab.addEventListener('change', () => this.#set({ tab: this.#tab.value }));
    for (const button of document.querySelectorAll<HTMLButtonElement>('#events-filters button')) {
      const filter = button.dataset.filter as Filter | 'all';
      button.addEventListener('click', () => this.#set({ filter }));
      const count = button.querySelector<HTMLElement>('.count');
      if (count) this.#chips.set(filter, { button, count });
    }
  }

  /** Hides the events of who came, left and had control until somebody asks for them. */
  fold(): void {
    this.#set({ folded: true });
  }

  /** Returns whether any filter is active. */
  get active(): boolean {
    const { filter, text, standing, tab, folded } = this.wanted;
    return folded || filter !== 'all' || text !== '' || standing !== '' || tab !== '';
  }

  count(counts: Counts): void {
    for (const [filter, { count, button }] of this.#chips) {
      if (filter === 'all') continue;
      // Who came and went is listed only by itself.
      const n = counts[filter as Filter] + (filter === 'control' && this.wanted.filter === 'control' ? counts.visits : 0);
      setText(count, n ? n.toLocaleString() : '');
      if (filter === 'errors') button.toggleAttribute('data-wrong', n > 0);
    }
  }

  /** Adds tabs from their events. */
  learn(event: CapturedEvent): void {
    const id = event.target_id;
    if (!id || (event.type !== 'navigation' && this.#tabs.has(id)) || str(event.data?.parent_frame_id)) return;
    const kind = event.type === 'target_created' ? str(event.data?.type) : 'page';
    if (kind && kind !== 'page' && kind !== 'tab') return;
    let option = this.#tabs.get(id);
    if (!option) {
      if (this.#tabs.size >= TABS) return;
      option = h('option', { value: id });
      this.#tabs.set(id, option);
      this.#tab.append(option);
      show(this.#tab, this.#tabs.size > 1);
    }
    const url = str(event.data?.url) || str(event.url);
    const number = [...this.#tabs.keys()].indexOf(id) + 1;
    setText(option, `Tab ${number}${url ? ` · ${shortURL(url).slice(0, 40)}` : ''}`);
  }

  #set(change: Partial<Wanted>): void {
    this.wanted = { ...this.wanted, ...change };
    for (const [name, { button }] of this.#chips) button.setAttribute('aria-pressed', String(name === this.wanted.filter));
    for (const select of [this.#standing, this.#tab]) select.toggleAttribute('data-set', select.value !== '');
    show(this.#standing, this.wanted.filter === 'network' || this.wanted.standing !== '');
    byId('events-list').toggleAttribute('data-network', this.wanted.filter === 'network');
    this.changed();
  }
}
