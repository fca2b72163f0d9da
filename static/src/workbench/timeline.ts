import { byId, h, setText, show } from '../ui/dom.js';
import { clock, timeOfDay } from '../ui/times.js';

/** A stretch of time in ms since 1970. */
export interface Stretch { from: number; to: number }

/** What stands in a lane of the time line: a run, a takeover that first waits and then is worked on, or a call of a script, an agent or a person. */
export interface Bar extends Stretch { kind: 'run' | 'waits' | 'works' | 'script' | 'agent' | 'person'; wrong: boolean; title: string }

/** A moment at which something went wrong, and what. */
export interface Fault { at: number; title: string }

/** What a time line shows. `stops` are the moments to which keys step, besides those of pictures; `at` is the first moment. */
export interface TimelineOptions {
  span: Stretch;
  bars: readonly Bar[];
  faults: readonly Fault[];
  stops: readonly number[];
  at: number;
  /** Returns the address of the picture of a time. */
  url(at: number): string;
  /** Returns why a moment has no picture, or ''. */
  without?(at: number): string;
}

/** Returns the last of the sorted times that is not after `at`, or undefined before the first one. */
export function shownAt(times: readonly number[], at: number): number | undefined {
  let found: number | undefined;
  for (const time of times) {
    if (time > at) break;
    found = time;
  }
  return found;
}

/** Returns the picture of each of `count` equal parts of the time: the one that was shown in its middle, the first one, or undefined before that. */
export function cells(times: readonly number[], span: Stretch, count: number): (number | undefined)[] {
  const part = (span.to - span.from) / count;
  return Array.from({ length: count }, (_, i) => shownAt(times, span.from + part * (i + 0.5)) ?? shownAt(times.slice(0, 1), span.from + part * (i + 1)));
}

/** Returns where a time lies in a span, from 0 to 1. */
export function share(span: Stretch, at: number): number {
  return Math.min(1, Math.max(0, (at - span.from) / Math.max(1, span.to - span.from)));
}

/** Returns the next time of interest after `at`, or the one before it. */
export function step(times: readonly number[], span: Stretch, at: number, forward: boolean): number {
  const stops = [span.from, ...times, span.to];
  return (forward ? stops.find((time) => time > at) : stops.filter((time) => time < at).at(-1)) ?? at;
}

/** Below this length (ms), times are said in tenths of seconds. */
const SHORT = 60_000;

/** Distances (ms) that the scale may have between its numbers. */
const DISTANCES = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400].map((seconds) => seconds * 1_000);

/** Returns the times (ms after the start) that the scale of a span names beside its end: the start and at most four more, at round distances. */
export function ticks(length: number): number[] {
  const distance = DISTANCES.find((each) => length / each <= 5) ?? length;
  return Array.from({ length: Math.max(1, Math.ceil(length / Math.max(1, distance))) }, (_, i) => i * distance);
}

function sorted(times: readonly number[]): number[] {
  return [...times].filter((time) => !Number.isNaN(time)).sort((a, b) => a - b);
}

/** The width of a small picture in px, so that a page of 16:9 is in it as a whole, and the longest strip of pictures. */
const CELL = 76;
const CELLS = 40;

/** How long (ms) a moment is shown while the time line plays: at most this, and less if all would take longer than PLAYS. */
const STAYS = 500;
const PLAYS = 60_000;

/** What stands in the place of a picture. */
const HIDDEN = 'No picture: a secret could be seen here.';
const NO_PICTURE_YET = 'No picture yet';

/** The keys that choose a moment. */
const KEYS: ReadonlySet<string> = new Set(['ArrowLeft', 'ArrowRight', 'Home', 'End']);

/** The time line of a page that looks back: its film strip, what was done, and the moment that the page shows. */
export class Timeline {
  #times: readonly number[] = [];
  /** Those of the times from which there is no picture, because a secret could be seen. */
  #hidden: ReadonlySet<number> = new Set();
  /** The moments to which keys step, sorted. */
  #stops: number[];
  #at: number;
  #moved: ((at: number, chosen: boolean) => void)[] = [];
  #track = byId('timeline-track');
  #head = byId('timeline-head');
  #hover = byId('timeline-hover');
  #picture = byId<HTMLImageElement>('moment-picture');
  #playButton = byId('moment-play');
  #playing = 0;

  readonly #url: (at: number) => string;
  readonly #without: (at: number) => string;
  private readonly span: Stretch;

  constructor({ span, bars, faults, stops, at, url, without = () => '' }: TimelineOptions) {
    this.span = span;
    this.#url = url;
    this.#without = without;
    this.#at = at;
    this.#stops = sorted(stops);
    const lanes = byId('timeline-lanes');
    for (const bar of bars) {
      const element = h('div', { class: `timeline-bar ${bar.kind}`, title: bar.title, 'data-wrong': bar.wrong });
      this.#place(element, bar);
      lanes.append(element);
    }
    for (const { at: when, title } of faults) {
      const mark = h('div', { class: 'timeline-fault', title });
      mark.style.left = this.#percent(when);
      lanes.append(mark);
    }
    const length = span.to - span.from;
    byId('timeline-scale').append(...ticks(length).map((after) => {
      const tick = h('span', { text: length < SHORT ? `${after / 1_000} s` : clock(after) });
      tick.style.left = this.#percent(span.from + after);
      return tick;
    }), h('span', { class: 'end', text: allOf(length) }));
    this.#track.setAttribute('aria-valuemax', String(span.to - span.from));
    this.#track.addEventListener('keydown', (event) => this.#key(event));
    this.#track.addEventListener('keyup', (event) => KEYS.has(event.key) && this.show(this.#at)); // also after one that was held
    this.#track.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      this.#track.setPointerCapture(event.pointerId);
      this.#play(false);
      this.show(this.#timeAt(event), false);
    });
    this.#track.addEventListener('pointerup', (event) => this.#track.hasPointerCapture(event.pointerId) && this.show(this.#timeAt(event), true));
    this.#track.addEventListener('pointermove', (event) => {
      const at = this.#timeAt(event);
      if (this.#track.hasPointerCapture(event.pointerId)) return this.show(at, false);
      if (event.pointerType !== 'mouse') return;
      show(this.#hover, true);
      this.#hover.style.left = this.#percent(at);
      this.#draw(at);
    });
    this.#track.addEventListener('pointerleave', () => {
      show(this.#hover, false);
      this.#draw(this.#at);
    });
    this.#playButton.addEventListener('click', () => this.#play(!this.#playing));
    new ResizeObserver(() => {
      this.#strip();
      this.#thin();
    }).observe(this.#track);
    this.show(at, false);
  }

  /** Shows a film strip: pictures of these times, sorted. From the hidden times on, it has none until the next one. */
  film(times: readonly number[], hidden: readonly number[] = []): void {
    this.#hidden = new Set(hidden);
    this.#times = sorted([...times, ...hidden]);
    this.#stops = sorted([...this.#stops, ...this.#times]);
    byId('timeline').toggleAttribute('data-film', times.length > 0);
    show(byId('moment'), times.length > 0);
    this.#strip();
    this.#draw(this.#at);
  }

  /** Calls a function with the present moment, and with each one that is shown. `chosen` is false while the person still moves. */
  onMove(moved: (at: number, chosen: boolean) => void): void {
    this.#moved.push(moved);
    moved(this.#at, false);
  }

  /** Shows a moment. */
  show(at: number, chosen = true): void {
    this.#at = Math.min(this.span.to, Math.max(this.span.from, at));
    this.#head.style.left = this.#percent(this.#at);
    const after = clock(this.#at - this.span.from);
    this.#track.setAttribute('aria-valuenow', String(Math.round(this.#at - this.span.from)));
    this.#track.setAttribute('aria-valuetext', `${timeOfDay(this.#at)}, ${after} after the start`);
    this.#draw(this.#at);
    for (const moved of this.#moved) moved(this.#at, chosen);
  }

  /** Shows one moment after the other, from the beginning if the last one is shown; or stops. */
  #play(on: boolean): void {
    if (!on && !this.#playing) return;
    window.clearInterval(this.#playing);
    this.#playing = 0;
    this.#playButton.toggleAttribute('data-playing', on);
    setText(this.#playButton.querySelector('.label'), on ? 'Pause' : 'Play');
    if (!on) return this.show(this.#at);
    if (this.#at >= this.span.to) this.show(this.span.from, false);
    this.#playing = window.setInterval(() => {
      if (!this.#picture.complete && this.#picture.src) return; // it is seen before the next one comes
      this.show(step(this.#stops, this.span, this.#at, true), false);
      if (this.#at >= this.span.to) this.#play(false);
    }, Math.min(STAYS, PLAYS / Math.max(1, this.#stops.length)));
  }

  #draw(at: number): void {
    const picture = shownAt(this.#times, at);
    const why = !this.#times.length ? '' : this.#without(at) || (picture === undefined ? NO_PICTURE_YET : this.#hidden.has(picture) ? HIDDEN : '');
    byId('moment').toggleAttribute('data-none', why !== '');
    show(byId('moment-none'), why !== '');
    setText(byId('moment-none'), why);
    if (picture !== undefined && !why) {
      const url = this.#url(picture);
      if (this.#picture.getAttribute('src') !== url) this.#picture.src = url;
    }
    setText(byId('moment-time'), timeOfDay(at));
    setText(byId('moment-words'), ofAll(at - this.span.from, this.span.to - this.span.from));
  }

  /** Hides what the scale's end would touch. */
  #thin(): void {
    const names = [...byId('timeline-scale').children];
    const end = (names.pop()?.getBoundingClientRect().left ?? 0) - 8;
    for (const name of names.slice(1)) name.classList.toggle('crowded', name.getBoundingClientRect().right > end);
  }

  #strip(): void {
    const film = byId('timeline-film');
    const count = Math.min(CELLS, Math.max(1, Math.floor(this.#track.clientWidth / CELL)));
    const pictures = this.#times.length ? cells(this.#times, this.span, count) : [];
    const key = pictures.join(' ');
    if (film.dataset.key === key) return;
    film.dataset.key = key;
    film.replaceChildren(...pictures.map((picture) =>
      picture === undefined ? h('span', { class: 'timeline-none', 'data-words': NO_PICTURE_YET, title: NO_PICTURE_YET })
      : this.#hidden.has(picture) ? h('span', { class: 'timeline-hidden', 'data-words': 'Secret', title: HIDDEN })
      : h('img', { src: this.#url(picture), alt: '', draggable: 'false', loading: 'lazy', decoding: 'async' })));
  }

  #place(element: HTMLElement, { from, to }: Stretch): void {
    element.style.left = this.#percent(from);
    element.style.right = `${100 - share(this.span, to) * 100}%`;
  }

  #percent(at: number): string {
    return `${share(this.span, at) * 100}%`;
  }

  #timeAt(event: PointerEvent): number {
    const box = this.#track.getBoundingClientRect();
    return this.span.from + ((event.clientX - box.left) / Math.max(1, box.width)) * (this.span.to - this.span.from);
  }

  #key(event: KeyboardEvent): void {
    const to: Record<string, () => number> = {
      ArrowLeft: () => step(this.#stops, this.span, this.#at, false),
      ArrowRight: () => step(this.#stops, this.span, this.#at, true),
      Home: () => this.span.from,
      End: () => this.span.to,
    };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const next = to[event.key];
    if (!next && event.key !== ' ') return;
    event.preventDefault();
    if (event.key === ' ' && event.repeat) return;
    this.#play(event.key === ' ' && !this.#playing);
    if (next) this.show(next(), false); // until it is up
  }
}

/** Says how long all lasted (ms). */
function allOf(all: number): string {
  return all < SHORT ? `${(all / 1_000).toFixed(1)} s` : clock(all);
}

/** Says how far a moment is (ms) from the beginning, and how long all lasted. */
function ofAll(after: number, all: number): string {
  return `${all < SHORT ? (after / 1_000).toFixed(1) : clock(after)} of ${allOf(all)}`;
}
