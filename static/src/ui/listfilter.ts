import { byId, maybeById, setText, show } from './dom.js';
import { matches as has } from './matching.js';

/** How long (ms) after a change of the filter the server is asked for the list. */
const ASK_AFTER = 200;

/** How far back (ms) each choice of a time goes. */
const TIMES: Record<string, number> = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** What the person wants to see. An empty part stands for everything. */
export interface Wanted { text: string; state: string; script: string; since: string }

/** What the filter knows of an entry of the list. `endedAt` is empty while it is live. */
export interface Entry { search?: string; states?: string; script?: string; endedAt?: string }

/** Returns whether an entry of the list is shown. Several words are searched separately. */
export function matches(entry: Entry, wanted: Wanted, now = Date.now()): boolean {
  if (wanted.state && !(entry.states ?? '').split(' ').includes(wanted.state)) return false;
  if (wanted.script && entry.script !== wanted.script) return false;
  const within = TIMES[wanted.since];
  if (within !== undefined && entry.endedAt && now - Date.parse(entry.endedAt) > within) return false;
  return has((entry.search ?? '').toLowerCase(), wanted.text);
}

/** Says that a list of such entries has none that the filter finds, in the same words as on the server. */
export function noMatchWords(entry: string, { text, ...chosen }: Wanted): string {
  const found = text && `“${text}”`;
  const filters = Object.values(chosen).some(Boolean) && 'the chosen filters';
  return `No ${entry} matches ${[found, filters].filter(Boolean).join(' and ')}.`;
}

/** Returns how many of a section's entries are shown, in the same words as on the server. */
function shownOf(shown: number, total: number): string {
  return shown === total ? String(total) : `${shown} of ${total}`;
}

/** Returns the numbers that the list has for the choices of a select. */
function countsOf(of: 'scripts' | 'since'): Record<string, number> {
  return (JSON.parse(byId('live').dataset[of] ?? '{}') ?? {}) as Record<string, number>; // null without any
}

/** Writes behind each choice but the first how many sessions it has. */
function writeCounts(select: HTMLSelectElement, counts: Record<string, number>): void {
  for (const option of [...select.options].slice(1)) {
    const text = `${option.dataset.words ?? option.value} (${Object.hasOwn(counts, option.value) ? counts[option.value] : 0})`;
    if (option.text !== text) option.text = text;
  }
}

/** The choices of a filter. A list may lack them. */
const SELECTS = ['script', 'since'] as const;

/**
 * Filters the entries (`data-search`) of a list by text, and by state, script and time where the page offers them. All are part of the address, so
 * that they can be shared and restored with the back button. The server renders the list by the same rules; `changed` asks it for entries that are
 * too old to be listed.
 */
export class ListFilter {
  #state = '';
  #asking = 0;

  constructor(private readonly changed?: () => void) {
    // The list, and with it the filter, may come later.
    document.addEventListener('input', ({ target }) => target === this.#text && this.#write('replaceState'));
    document.addEventListener('change', ({ target }) => SELECTS.some((name) => target === this.#select(name)) && this.#write('pushState'));
    document.addEventListener('click', ({ target }) => {
      if (!(target instanceof Element)) return;
      const chip = target.closest<HTMLElement>('#list-states .chip');
      if (chip) this.#choose(chip.dataset.of ?? '');
      else if (target.id === 'clear-filter') this.#clear();
    });
    window.addEventListener('popstate', () => this.#read());
    // A browser restores the field's previous text, but the address decides.
    this.#read();
  }

  get #text(): HTMLInputElement | null {
    return maybeById<HTMLInputElement>('list-search');
  }

  get #chips(): HTMLElement[] {
    return [...document.querySelectorAll<HTMLElement>('#list-states .chip')];
  }

  #select(name: (typeof SELECTS)[number]): HTMLSelectElement | null {
    return maybeById<HTMLSelectElement>(`list-${name}`);
  }

  #choose(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#write('pushState');
  }

  #clear(): void {
    this.#state = '';
    for (const field of [this.#text, ...SELECTS.map((name) => this.#select(name))]) if (field) field.value = '';
    this.#write('pushState');
    this.#text?.focus();
  }

  #wanted(): Wanted {
    const state = this.#chips.some(({ dataset }) => dataset.of === this.#state) ? this.#state : ''; // the list may not have it
    return { text: this.#text?.value.trim() ?? '', state, script: this.#select('script')?.value ?? '', since: this.#select('since')?.value ?? '' };
  }

  #read(): void {
    const query = new URLSearchParams(location.search);
    const before = JSON.stringify(this.#wanted());
    this.#state = query.get('state') ?? '';
    if (this.#text) this.#text.value = query.get('q') ?? '';
    this.#offer(query.get('script') ?? '');
    const since = query.get('since') ?? '';
    const times = this.#select('since');
    if (times) times.value = since in TIMES ? since : '';
    this.apply();
    if (JSON.stringify(this.#wanted()) !== before) this.#ask();
  }

  /** Offers the scripts of the list, and chooses one. */
  #offer(chosen: string): void {
    const times = this.#select('since');
    if (times) writeCounts(times, countsOf('since'));
    const select = this.#select('script');
    if (!select) return;
    const counts = countsOf('scripts');
    const names = Object.keys(counts);
    if (chosen && !names.includes(chosen)) names.push(chosen);
    names.sort();
    const offered = [...select.options].slice(1).map(({ value }) => value);
    if (JSON.stringify(offered) !== JSON.stringify(names)) {
      select.length = 1;
      for (const name of names) select.add(new Option(name, name));
    }
    writeCounts(select, counts);
    select.value = chosen;
    show(select, names.length > 0);
  }

  #write(how: 'pushState' | 'replaceState'): void {
    const wanted = this.#wanted();
    const query = new URLSearchParams();
    if (wanted.text) query.set('q', wanted.text);
    for (const name of ['state', ...SELECTS] as const) if (wanted[name]) query.set(name, wanted[name]);
    history[how](null, '', query.size ? `?${query}` : location.pathname);
    this.apply();
    this.#ask();
  }

  #ask(): void {
    window.clearTimeout(this.#asking);
    if (this.changed) this.#asking = window.setTimeout(this.changed, ASK_AFTER);
  }

  /** Filters the list again, for example after it was updated. */
  apply(): void {
    if (!this.#text) return; // the list is empty
    this.#offer(this.#select('script')?.value ?? '');
    for (const name of SELECTS) this.#select(name)?.toggleAttribute('data-set', this.#select(name)?.value !== '');
    for (const chip of this.#chips) {
      const { of = '' } = chip.dataset;
      chip.setAttribute('aria-pressed', String(of === this.#wanted().state));
      setText(chip.querySelector('.count'), byId('live').getAttribute(`data-found-${of}`) ?? ''); // the server counts also what is not listed
    }
    const wanted = this.#wanted();
    const active = Object.values(wanted).some(Boolean);
    let any = false;
    for (const section of byId('live').querySelectorAll<HTMLElement>('section')) {
      let here = 0;
      for (const entry of section.querySelectorAll<HTMLElement>('[data-search]')) {
        const shown = matches(entry.dataset, wanted);
        show(entry, shown);
        if (shown) here++;
      }
      show(section, here > 0 || (!active && !section.querySelector('.rows'))); // a section without a list says why
      const count = section.querySelector<HTMLElement>('.count[data-total]');
      if (count) setText(count, shownOf(here, Number(count.dataset.total)));
      any ||= here > 0;
    }
    const none = byId('no-match');
    if (active) setText(none.querySelector('p'), noMatchWords(none.dataset.entry ?? '', wanted));
    show(none, active && !any);
  }
}
