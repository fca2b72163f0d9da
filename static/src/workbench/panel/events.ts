import { movable } from '../dividers.js';
import { byId, h, setText, show } from '../../ui/dom.js';
import type { Run } from '../../remote/protocol.js';
import { EventStream } from '../../ui/sse.js';
import { timeOfDay } from '../../ui/times.js';
import { path } from '../../ui/api.js';
import { Capture } from './capture.js';
import { Detail } from './detail.js';
import { Filters } from './filters.js';
import { comesOrGoes, passes, RowLog, type CapturedEvent, type Row } from './rows.js';
import { Steps } from './steps.js';
import { barOf, waited } from './timing.js';
import { moved, VirtualList } from './virtual.js';

/** Lines that the panel keeps. */
const CAPACITY = 10_000;
/** Height of a line in CSS px, for touch and otherwise; `.event` in events.css must agree. */
const ROW_HEIGHT = matchMedia('(pointer: coarse)').matches ? 44 : 28;

/** The browser's events as they happen: one time line with filters, and the details of the selected event. */
export class EventsPanel {
  #log = new RowLog(CAPACITY);
  #shown: Row[] = [];
  /** Set after changes that may affect which lines are shown. */
  #stale = false;
  #paused = false;
  #pausedEvents: CapturedEvent[] = [];
  #selected: Row | null = null;
  #stream: EventStream | null = null;
  #stopped = false;
  #list: VirtualList;
  #host = byId('events-list');
  #state = byId('events-state');
  #filters: Filters;
  #detail: Detail;
  #capture: Capture;

  /** reveal shows a line of a run's script; moment is told when a line is chosen, and the time of its event. */
  constructor(private readonly session: string, reveal: (run: Run, line: number) => void, private readonly moment?: (at: number) => void) {
    this.#list = new VirtualList({
      host: this.#host,
      rowHeight: ROW_HEIGHT,
      count: () => this.#shown.length,
      before: () => this.#prepare(),
      fill: (element, index) => this.#fill(element, index),
    });
    this.#filters = new Filters(() => this.#filterAgain());
    this.#capture = new Capture(session, (words) => setText(this.#state, words), () => this.#stopped);
    const steps = new Steps(session, reveal);
    this.#detail = new Detail({
      host: byId('events-detail'),
      close: () => this.#closeDetail(),
      ended: () => this.#stopped,
      captureBodies: () => this.#capture.choose('network_response_body', true),
      step: (row, into) => void steps.tell(row.event.ts, into),
    });
    this.#bar();
    this.#host.addEventListener('click', (event) => {
      const row = (event.target as Element).closest<HTMLElement>('.event');
      if (row) this.#select(Number(row.dataset.index));
    });
    this.#host.addEventListener('keydown', (event) => this.#key(event));
    const body = byId('events-body');
    movable({
      handle: byId('events-split'), host: body, property: '--detail', key: 'takeover.detail', unit: '%', step: 4, reverse: true,
      initial: () => 50, min: 20, max: () => 80,
      at: (event) => {
        const { right, bottom } = body.getBoundingClientRect();
        return 100 * (this.#beside() ? (right - event.clientX) / body.clientWidth : (bottom - event.clientY) / body.clientHeight);
      },
    });
  }

  /** Returns whether details are at the right of the list, as events.css decides. */
  #beside(): boolean {
    return getComputedStyle(byId('events-body')).flexDirection === 'row';
  }

  #bar(): void {
    const follow = byId('events-follow');
    this.#list.onFollowChange = (on) => follow.setAttribute('aria-pressed', String(on));
    follow.addEventListener('click', () => this.#list.setFollow(!this.#list.follow));
    byId('events-pause').addEventListener('click', () => this.#pause(!this.#paused));
    byId('events-clear').addEventListener('click', () => this.#clear());
  }

  /** Starts the capture, and shows earlier and new events. */
  async start(): Promise<void> {
    await this.#capture.start();
    if (this.#stopped) return;
    this.#stream = new EventStream({
      url: path`/v1/sessions/${this.session}/events/stream` + '?replay=all',
      event: ({ data }) => this.#receive(data),
      state: (state) => setText(this.#state, state === 'waiting' ? 'Reconnecting…' : state === 'closed' ? 'Ended' : this.#paused ? 'Paused' : ''),
    });
  }

  /** Shows the captured events of an ended session. */
  review(): void {
    this.#stopped = true;
    this.#filters.fold();
    this.#list.setFollow(false);
    this.#stream = new EventStream({
      url: path`/v1/sessions/${this.session}/events/stream` + '?replay=all',
      once: true,
      event: ({ data }) => this.#receive(data),
      state: (state) => setText(this.#state, state === 'waiting' ? 'Connection lost' : ''),
    });
  }

  /** Shows the events of a file that has one in each line. */
  async read(url: string): Promise<void> {
    this.#stopped = true;
    this.#filters.fold();
    this.#list.setFollow(false);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`the events: ${response.status}`);
    for (const line of (await response.text()).split('\n')) if (line) this.#receive(line);
  }

  /** Stops waiting for events, because the session has ended. */
  stop(): void {
    this.#stopped = true;
    this.#stream?.close();
    this.#detail.redraw();
  }

  #receive(data: string): void {
    let event: CapturedEvent;
    try {
      event = JSON.parse(data) as CapturedEvent;
    } catch {
      return;
    }
    if (typeof event?.type !== 'string') return;
    if (this.#paused) {
      if (this.#pausedEvents.push(event) > CAPACITY) this.#pausedEvents.shift();
      setText(this.#state, `Paused, ${this.#pausedEvents.length} more`);
      return;
    }
    this.#add(event);
  }

  #add(event: CapturedEvent): void {
    const outcome = this.#log.add(event);
    if (!outcome) return;
    this.#filters.learn(event);
    const { row, changed, late, dropped } = outcome;
    // If a response is an error, that may change whether the request is shown.
    if (dropped > 0 || late || (changed && this.#filters.active)) this.#stale = true;
    if (!changed && !this.#stale && passes(row, this.#filters.wanted)) this.#shown.push(row);
    if (row === this.#selected) this.#detail.show(row);
    this.#list.refresh();
  }

  /** Runs before drawing, so that the effects of many events are computed once. */
  #prepare(): void {
    if (this.#stale) {
      this.#stale = false;
      const before = this.#shown;
      this.#shown = this.#log.rows.filter((row) => passes(row, this.#filters.wanted));
      if (!this.#list.follow) this.#list.shift(moved(before, this.#shown, this.#list.top));
      this.#point();
    }
    this.#filters.count(this.#log.count());
    const empty = byId('events-empty');
    show(empty, this.#shown.length === 0);
    setText(empty.firstElementChild ?? empty, this.#log.rows.some((row) => !comesOrGoes(row)) ? 'No event matches the filters.' : 'No events yet. Console output, requests and page events appear here as they happen.');
  }

  #filterAgain(): void {
    if (this.#selected && !passes(this.#selected, this.#filters.wanted)) this.#closeDetail();
    this.#stale = true;
    this.#list.refresh();
  }

  #pause(paused: boolean): void {
    this.#paused = paused;
    const button = byId('events-pause');
    button.setAttribute('aria-pressed', String(paused));
    button.title = paused ? 'Resume' : 'Pause';
    button.setAttribute('aria-label', button.title);
    button.querySelector('use')?.setAttribute('href', paused ? '#i-play' : '#i-pause');
    setText(this.#state, paused ? 'Paused' : '');
    if (paused) return;
    for (const event of this.#pausedEvents.splice(0)) this.#add(event);
  }

  #clear(): void {
    this.#log.clear();
    this.#pausedEvents = [];
    this.#closeDetail();
    this.#filterAgain();
  }

  #fill(element: HTMLElement, index: number): void {
    const row = this.#shown[index];
    if (!row) return;
    if (!element.firstChild) {
      element.append(
        h('span', { class: 'at' }), h('span', { class: 'kind' }), h('span', { class: 'what' }, h('span'), ' ', h('span', { class: 'soft' })),
        h('span', { class: 'status' }), h('span', { class: 'took' }), h('span', { class: 'bar', 'aria-hidden': 'true' }, h('i')),
      );
      element.setAttribute('role', 'option');
    }
    element.className = row.level === 'plain' ? 'event' : `event ${row.level}`;
    element.id = `event-${index}`;
    element.dataset.index = String(index);
    element.dataset.category = row.group;
    element.toggleAttribute('data-person', row.person);
    element.toggleAttribute('data-nobody', row.event.type === 'control_changed' && !row.event.data?.holder);
    element.toggleAttribute('data-held', row.event.type === 'control_changed' && row.event.data?.held === true);
    element.setAttribute('aria-selected', String(row === this.#selected));
    element.setAttribute('aria-posinset', String(index + 1));
    element.setAttribute('aria-setsize', String(this.#shown.length));
    const [at, kind, what, status, took, bar] = element.children;
    if (at) setText(at, timeOfDay(row.event.ts));
    if (kind) sayLevel(kind, row.level);
    if (what?.firstElementChild) setText(what.firstElementChild, row.text);
    if (what?.lastElementChild) setText(what.lastElementChild, row.soft);
    if (status) setText(status, row.status);
    if (took) setText(took, row.took);
    if (bar instanceof HTMLElement) drawBar(bar, row);
  }

  #select(index: number): void {
    const row = this.#shown[index];
    if (!row) return;
    this.#selected = row;
    this.#point();
    this.#detail.show(row);
    const split = byId('events-split');
    split.setAttribute('aria-orientation', this.#beside() ? 'vertical' : 'horizontal');
    show(split, true);
    this.#list.setFollow(false);
    this.#list.reveal(index);
    this.moment?.(row.event.ts);
  }

  /** Marks the active line, wherever it is now. */
  #point(): void {
    const index = this.#selected ? this.#shown.indexOf(this.#selected) : -1;
    if (index < 0) this.#host.removeAttribute('aria-activedescendant');
    else this.#host.setAttribute('aria-activedescendant', `event-${index}`);
  }

  #key(event: KeyboardEvent): void {
    const at = this.#selected ? this.#shown.indexOf(this.#selected) : -1;
    const page = Math.max(1, Math.floor(this.#host.clientHeight / ROW_HEIGHT) - 1);
    const last = this.#shown.length - 1;
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at < 0 ? last : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last };
    const to = steps[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.#select(Math.max(0, Math.min(last, to)));
    } else if (event.key === 'Enter' && this.#selected) {
      event.preventDefault();
      this.#detail.focus();
    } else if (event.key === 'Escape' && this.#selected) {
      event.stopPropagation();
      this.#closeDetail();
    }
  }

  #closeDetail(): void {
    const inside = byId('events-detail').contains(document.activeElement);
    this.#selected = null;
    this.#detail.hide();
    show(byId('events-split'), false);
    this.#point();
    this.#list.refresh();
    if (inside) this.#host.focus({ preventScroll: true });
  }
}

/** Describes the meaning of the symbol's colour. */
function sayLevel(kind: Element, level: Row['level']): void {
  if (level === 'plain') {
    kind.removeAttribute('role');
    kind.removeAttribute('aria-label');
  } else {
    kind.setAttribute('role', 'img');
    kind.setAttribute('aria-label', level === 'wrong' ? 'Error' : 'Warning');
  }
}

/** Draws the bar of a request relative to its burst: light while it waited, solid while it was received. */
function drawBar(bar: HTMLElement, row: Row): void {
  const { span, burst } = row;
  bar.toggleAttribute('data-drawn', Boolean(span && burst));
  const inner = bar.firstElementChild;
  if (!span || !burst || !(inner instanceof HTMLElement)) return;
  const { left, width } = barOf(row.answer ? span : { start: span.start, end: burst.end }, burst);
  inner.style.left = `${left}%`;
  inner.style.width = `${width}%`;
  inner.style.setProperty('--waited', `${Math.round(waited(row.answer) * 100)}%`);
  inner.toggleAttribute('data-open', row.standing === 'pending');
}
