import { byId, setText, show } from '../ui/dom.js';

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
  const all = (entry.search ?? '').toLowerCase();
  return wanted.text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
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

/**
 * Filters the session list by text, status, script and time. All are part of the address, so that they can be shared and restored with the back
 * button. The server renders the list by the same rules, and finds sessions that are too old to be listed; `changed` asks it for them.
 */
export class ListFilter {
  #text = byId<HTMLInputElement>('list-search');
  #state = byId('list-states').dataset.state ?? '';
  #chips = [...byId('list-states').querySelectorAll('button')];
  #script = byId<HTMLSelectElement>('list-script');
  #since = byId<HTMLSelectElement>('list-since');
  #asking = 0;

  constructor(private readonly changed: () => void) {
    this.#text.addEventListener('input', () => this.#write('replaceState'));
    for (const chip of this.#chips) chip.addEventListener('click', () => this.#choose(chip.dataset.of ?? ''));
    for (const select of [this.#script, this.#since]) select.addEventListener('change', () => this.#write('pushState'));
    byId('clear-filter').addEventListener('click', () => {
      this.#text.value = this.#script.value = this.#since.value = this.#state = '';
      this.#write('pushState');
      this.#text.focus();
    });
    window.addEventListener('popstate', () => this.#read());
    // A browser restores the field's previous text, but the address decides.
    this.#read();
  }

  #choose(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#write('pushState');
  }

  #wanted(): Wanted {
    return { text: this.#text.value.trim(), state: this.#state, script: this.#script.value, since: this.#since.value };
  }

  #read(): void {
    const query = new URLSearchParams(location.search);
    const before = JSON.stringify(this.#wanted());
    const state = query.get('state') ?? '';
    this.#state = this.#chips.some(({ dataset }) => dataset.of === state) ? state : '';
    this.#text.value = query.get('q') ?? '';
    this.#offer(query.get('script') ?? '');
    const since = query.get('since') ?? '';
    this.#since.value = since in TIMES ? since : '';
    this.apply();
    if (JSON.stringify(this.#wanted()) !== before) this.#ask();
  }

  /** Offers the scripts of the list, and chooses one. */
  #offer(chosen: string): void {
    const counts = countsOf('scripts');
    const names = Object.keys(counts);
    if (chosen && !names.includes(chosen)) names.push(chosen);
    names.sort();
    const offered = [...this.#script.options].slice(1).map(({ value }) => value);
    if (JSON.stringify(offered) !== JSON.stringify(names)) {
      this.#script.length = 1;
      for (const name of names) this.#script.add(new Option(name, name));
    }
    writeCounts(this.#script, counts);
    writeCounts(this.#since, countsOf('since'));
    this.#script.value = chosen;
    show(this.#script, names.length > 0);
  }

  #write(how: 'pushState' | 'replaceState'): void {
    const wanted = this.#wanted();
    const query = new URLSearchParams();
    if (wanted.text) query.set('q', wanted.text);
    for (const name of ['state', 'script', 'since'] as const) if (wanted[name]) query.set(name, wanted[name]);
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
    this.#offer(this.#script.value);
    for (const select of [this.#script, this.#since]) select.toggleAttribute('data-set', select.value !== '');
    for (const chip of this.#chips) {
      const { of = '' } = chip.dataset;
      chip.setAttribute('aria-pressed', String(of === this.#state));
      setText(chip.querySelector('.count'), byId('live').dataset[of] ?? ''); // the list has the numbers
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
      const count = section.querySelector<HTMLElement>('.count');
      if (count) setText(count, shownOf(here, Number(count.dataset.total)));
      any ||= here > 0;
    }
    show(byId('no-match'), active && !any);
  }
}
