import { h } from '../ui/dom.js';
import { timeOfDay } from '../ui/times.js';

/** Lines that came are shown together after this many ms, so that a flood of them costs one layout. */
const GATHER = 40;
/** Of a longer text only so many characters are shown at first. */
const LONG = 4_000;
/** As near to its end (px) the list follows what comes. */
const NEAR = 24;

/** One thing a run said or did. */
export interface Line {
  kind: 'log' | 'warn' | 'error' | 'step' | 'asks';
  /** Unix ms, or NaN when it is not known. */
  at: number;
  text: string;
  took?: string;
}

/** A run's lines in the order of their times, and below them what came of it. */
export class Lines {
  #shown: { at: number; element: HTMLElement }[] = [];
  #coming: Line[] = [];
  #outcome: HTMLElement[] = [];
  #timer = 0;
  /** Whether the newest line stays in sight: until somebody scrolls up. */
  #follows = true;
  #top = 0;

  constructor(private readonly body: HTMLElement) {
    // Lines out of sight have only a guess for a height, so the end itself moves.
    body.addEventListener('scroll', () => {
      const top = body.scrollTop;
      this.#follows = this.#atEnd() || (this.#follows && top >= this.#top);
      this.#top = top;
    });
  }

  clear(): void {
    window.clearTimeout(this.#timer);
    this.#timer = 0;
    this.#shown = [];
    this.#coming = [];
    this.#outcome = [];
    this.#follows = true;
    this.#top = 0;
    this.body.replaceChildren();
  }

  /** A step is told when it is over, and stands where it began. */
  add(line: Line): void {
    this.#coming.push(line);
    this.#timer ||= window.setTimeout(() => this.flush(), GATHER);
  }

  /** Shows what has come so far. */
  flush(): void {
    window.clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#coming.length === 0) return;
    for (const line of this.#coming) this.#place(line);
    this.#coming = [];
    if (this.#follows) this.body.scrollTop = this.body.scrollHeight;
  }

  /** Puts what came of the run below its lines, in place of what stood there. */
  conclude(...outcome: HTMLElement[]): void {
    this.flush();
    for (const element of this.#outcome) element.remove();
    this.#outcome = outcome;
    this.body.append(...outcome);
    const [first] = outcome;
    // Its beginning says what it is.
    if (this.#follows && first) this.body.scrollTop = first.offsetTop - this.body.offsetTop;
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
    this.body.insertBefore(element, this.#shown[index]?.element ?? this.#outcome[0] ?? null);
    this.#shown.splice(index, 0, { at, element });
  }
}

function draw({ kind, at, text, took = '' }: Line): HTMLElement {
  const what = h('span', { class: 'what', text: text.length > LONG ? `${text.slice(0, LONG)}… ` : text });
  if (text.length > LONG) {
    const all = h('button', { type: 'button', class: 'position', text: `Show all ${text.length.toLocaleString('en')} characters` });
    all.addEventListener('click', () => what.replaceChildren(text));
    what.append(all);
  }
  return h('div', { class: `output-line ${kind}` }, h('span', { class: 'at', text: Number.isNaN(at) ? '' : timeOfDay(at) }), what, h('span', { class: 'took', text: took }));
}
