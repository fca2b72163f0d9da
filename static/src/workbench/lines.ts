import { breakable, h } from '../ui/dom.js';
import { timeOfDay } from '../ui/times.js';

/** Lines that arrive within this time (ms) are shown together, so that a flood of them needs only one layout. */
const GATHER = 40;
/** Longer texts are cut to this many characters at first. */
const LONG = 4_000;
/** The list follows new lines while it is scrolled this close to its end (px). */
const NEAR = 24;

/** Returns the first line of a text that says something. */
export const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';

/** A line of a run's output. */
export interface Line {
  kind: 'log' | 'warn' | 'error' | 'step' | 'asks';
  /** Unix ms, or NaN when unknown. */
  at: number;
  text: string;
  /** Why it failed. */
  why?: string;
  took?: string;
}

/** The lines of a run in the order of their times, with the result below. */
export class Lines {
  #shown: { at: number; why: string; element: HTMLElement }[] = [];
  #coming: Line[] = [];
  #outcome: HTMLElement[] = [];
  /** What goes on now, below what is over. */
  #now: HTMLElement | null = null;
  #timer = 0;
  /** Whether the newest line stays in view. This ends when somebody scrolls up. */
  #follows = true;
  #top = 0;
  /** The panel was folded when the run ended. */
  #due = false;
  #frame = 0;

  constructor(private readonly body: HTMLElement) {
    // Lines outside the view have an estimated height, so the end moves while scrolling.
    body.addEventListener('scroll', () => {
      if (this.#outcome.length) return;
      const top = body.scrollTop;
      this.#follows = this.#atEnd() || (this.#follows && top >= this.#top);
      this.#top = top;
    });
    // The panel opens, or the window changes.
    new ResizeObserver(() => {
      if (this.#outcome.length === 0 || this.#due) this.#follow();
    }).observe(body);
  }

  clear(): void {
    window.clearTimeout(this.#timer);
    this.#timer = 0;
    this.#shown = [];
    this.#coming = [];
    this.#outcome = [];
    this.#now = null;
    this.#follows = true;
    this.#top = 0;
    this.#due = false;
    this.body.replaceChildren();
  }

  /** Adds a line at its place. A step is reported when it ends, and shown where it began. */
  add(line: Line): void {
    this.#coming.push(line);
    this.#timer ||= window.setTimeout(() => this.flush(), GATHER);
  }

  /** Shows the lines so far. */
  flush(): void {
    window.clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#coming.length === 0) return;
    for (const line of this.#coming) this.#place(line);
    this.#coming = [];
    this.#follow();
  }

  /** Shows the line of what goes on now, or none. */
  now(line: Line | null): void {
    const element = line && draw(line);
    element?.classList.add('now');
    if (element && this.#now) this.#now.replaceWith(element);
    else if (element) this.body.insertBefore(element, this.#outcome[0] ?? null);
    else this.#now?.remove();
    const came = element && !this.#now;
    this.#now = element;
    if (came) this.#follow();
  }

  /** Shows the result of the run below its lines. */
  conclude(...outcome: HTMLElement[]): void {
    this.flush();
    for (const element of this.#outcome) element.remove();
    this.#outcome = outcome;
    this.body.append(...outcome);
    // The step that led to it need not say it, too.
    const last = this.#shown.at(-1);
    if (last?.why && outcome.some((element) => element.textContent.includes(last.why))) last.element.querySelector('.why')?.remove();
    this.#follow();
  }

  /** Scrolls to the newest line, or to where it is said how the run ended: the step that failed, or the result's beginning. */
  #follow(): void {
    const scroll = (): void => {
      if (!this.#follows) return;
      this.#due = this.body.clientHeight === 0;
      const last = this.#shown.at(-1);
      const from = last?.why && this.#outcome.some((element) => element.hasAttribute('data-error')) ? last.element : this.#outcome[0];
      this.body.scrollTop = from ? from.offsetTop - this.body.offsetTop : this.body.scrollHeight;
    };
    scroll();
    // Lines get their real heights when they are drawn for the first time, which is in the next frame.
    this.#frame ||= requestAnimationFrame(() => requestAnimationFrame(() => {
      this.#frame = 0;
      scroll();
    }));
  }

  #atEnd(): boolean {
    return this.body.scrollTop + this.body.clientHeight >= this.body.scrollHeight - NEAR;
  }

  #place(line: Line): void {
    const last = this.#shown.at(-1);
    const at = Number.isNaN(line.at) ? (last?.at ?? 0) : line.at;
    let index = this.#shown.length;
    while (index > 0 && (this.#shown[index - 1]?.at ?? 0) > at) index--;
    const element = draw(line);
    this.body.insertBefore(element, this.#shown[index]?.element ?? this.#now ?? this.#outcome[0] ?? null);
    this.#shown.splice(index, 0, { at, why: line.why ?? '', element });
  }
}

function draw({ kind, at, text, why = '', took = '' }: Line): HTMLElement {
  const title = h('span', {}, ...(text.length > LONG ? [`${text.slice(0, LONG)}… `] : breakable(text)));
  const what = h('span', { class: 'what' }, title);
  if (text.length > LONG) {
    const all = h('button', { type: 'button', class: 'position', text: `Show all ${text.length.toLocaleString('en')} characters` });
    all.addEventListener('click', () => title.replaceChildren(text));
    title.append(all);
  }
  if (why) what.append(h('span', { class: 'why' }, ': ', ...breakable(why.slice(0, LONG))));
  return h('div', { class: `output-line ${kind}` }, h('span', { class: 'at', text: Number.isNaN(at) ? '' : timeOfDay(at) }), what, h('span', { class: 'took', text: took }));
}
