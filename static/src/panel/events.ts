import { APIError, messageOf, path, post } from '../api.js';
import { backoff } from '../connection.js';
import { byId, h, icon, setText, show } from '../dom.js';
import { EventStream } from '../sse.js';
import { timeOfDay } from '../times.js';
import { jsonView } from './json.js';
import { passes, RowLog, type CapturedEvent, type Filter, type Row } from './rows.js';
import { VirtualList } from './virtual.js';

/** Lines kept in the panel. */
const CAPACITY = 10_000;
/** Height of a line in CSS px; `.event` in panels.css must agree. */
const ROW_HEIGHT = 28;
/** How often the server is asked again while its browser is not ready. */
const TRIES = 6;
/** What the panel asks the server to capture. */
const CAPTURE = { console: true, network: true, navigation: true, targets: true };

const FILTERS: [Filter | 'all', string][] = [['all', 'All'], ['console', 'Console'], ['network', 'Network'], ['page', 'Page'], ['control', 'Control'], ['errors', 'Errors']];

/** What the browser did, as it happens: one time line with filters, and the JSON of the chosen event. */
export class EventsPanel {
  #log = new RowLog(CAPACITY);
  #shown: Row[] = [];
  #filter: Filter | 'all' = 'all';
  #text = '';
  #paused = false;
  #pausedEvents: CapturedEvent[] = [];
  #selected: Row | null = null;
  #stream: EventStream | null = null;
  #stopped = false;
  #errors = 0;
  #list: VirtualList;
  #host = byId('events-list');
  #detail = byId('events-detail');
  #chips = new Map<string, HTMLButtonElement>();

  constructor(private readonly session: string) {
    this.#list = new VirtualList({
      host: this.#host,
      rowHeight: ROW_HEIGHT,
      count: () => this.#shown.length,
      fill: (element, index) => this.#fill(element, index),
    });
    const follow = byId('events-follow');
    this.#list.onFollowChange = (on) => follow.setAttribute('aria-pressed', String(on));
    follow.addEventListener('click', () => this.#list.setFollow(!this.#list.follow));
    byId('events-pause').addEventListener('click', () => this.#pause(!this.#paused));
    byId('events-clear').addEventListener('click', () => this.#clear());
    byId<HTMLInputElement>('events-search').addEventListener('input', (event) => {
      this.#text = (event.target as HTMLInputElement).value.trim().toLowerCase();
      this.#filterAgain();
    });
    this.#makeChips();
    this.#host.addEventListener('click', (event) => {
      const row = (event.target as Element).closest<HTMLElement>('.event');
      if (row) this.#select(Number(row.dataset.index));
    });
    this.#host.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Turns capture on, and shows what was captured before and what comes. */
  async start(): Promise<void> {
    await this.#capture();
    if (this.#stopped) return;
    this.#stream = new EventStream({
      url: path`/v1/sessions/${this.session}/events/stream` + '?replay=all',
      event: ({ data }) => this.#receive(data),
      state: (state) => setText(byId('events-state'), state === 'waiting' ? 'Connection lost' : state === 'closed' ? 'Ended' : ''),
    });
  }

  /** A browser that is just starting or restarting cannot be listened to yet. */
  async #capture(): Promise<void> {
    for (let attempt = 0; !this.#stopped; attempt++) {
      try {
        await post(path`/v1/sessions/${this.session}/events/start`, CAPTURE);
        setText(byId('events-state'), '');
        return;
      } catch (error) {
        setText(byId('events-state'), messageOf(error));
        const later = error instanceof APIError && (error.status === 0 || error.status === 503);
        if (!later || attempt >= TRIES) return;
      }
      await new Promise((resolve) => setTimeout(resolve, backoff(attempt)));
    }
  }

  /** The session is over: nothing more will come. */
  stop(): void {
    this.#stopped = true;
    this.#stream?.close();
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
      setText(byId('events-state'), `Paused, ${this.#pausedEvents.length} more`);
      return;
    }
    this.add(event);
  }

  add(event: CapturedEvent): void {
    const outcome = this.#log.add(event);
    if (!outcome) return;
    const { row, changed, dropped } = outcome;
    if (dropped > 0) this.#filterAgain();
    else if (changed) {
      // A request that its answer turned into an error may enter or leave what is shown.
      if (this.#filter === 'errors' || this.#text) this.#filterAgain();
    } else if (passes(row, this.#filter, this.#text)) this.#shown.push(row);
    if (row.level === 'wrong' && (!changed || row.answer === event)) this.#count(this.#errors + 1);
    if (row === this.#selected) this.#showDetail();
    show(byId('events-empty'), this.#shown.length === 0);
    this.#list.refresh();
  }

  #makeChips(): void {
    const host = byId('events-filters');
    for (const [filter, label] of FILTERS) {
      const chip = h('button', { type: 'button', class: 'chip', 'aria-pressed': String(filter === this.#filter), on: { click: () => this.#setFilter(filter) } }, label);
      this.#chips.set(filter, chip);
      host.append(chip);
    }
  }

  #setFilter(filter: Filter | 'all'): void {
    this.#filter = filter;
    for (const [name, chip] of this.#chips) chip.setAttribute('aria-pressed', String(name === filter));
    this.#filterAgain();
  }

  #count(errors: number): void {
    this.#errors = errors;
    const chip = this.#chips.get('errors');
    if (chip) setText(chip, errors ? `Errors ${errors}` : 'Errors');
  }

  #filterAgain(): void {
    const before = this.#shown.length;
    this.#shown = this.#log.rows.filter((row) => passes(row, this.#filter, this.#text));
    if (before > this.#shown.length) this.#list.shift(before - this.#shown.length);
    const empty = byId('events-empty');
    show(empty, this.#shown.length === 0);
    setText(empty.firstElementChild ?? empty, this.#log.rows.length ? 'No event matches.' : 'Nothing yet. What the page logs, loads and does appears here as it happens.');
    this.#list.refresh();
  }

  #pause(paused: boolean): void {
    this.#paused = paused;
    const button = byId('events-pause');
    button.setAttribute('aria-pressed', String(paused));
    button.title = paused ? 'Go on' : 'Pause';
    button.setAttribute('aria-label', button.title);
    button.querySelector('use')?.setAttribute('href', paused ? '#i-play' : '#i-pause');
    setText(byId('events-state'), paused ? 'Paused' : '');
    if (paused) return;
    for (const event of this.#pausedEvents.splice(0)) this.add(event);
  }

  #clear(): void {
    this.#log.clear();
    this.#pausedEvents = [];
    this.#count(0);
    this.#closeDetail();
    this.#filterAgain();
  }

  #fill(element: HTMLElement, index: number): void {
    const row = this.#shown[index];
    if (!row) return;
    if (!element.firstChild) {
      element.append(h('span', { class: 'at' }), h('span', { class: 'kind' }), h('span', { class: 'what' }, h('span'), ' ', h('span', { class: 'soft' })), h('span', { class: 'status' }), h('span', { class: 'took' }));
      element.setAttribute('role', 'option');
    }
    const selected = row === this.#selected;
    element.className = row.level === 'plain' ? 'event' : `event ${row.level}`;
    element.id = `event-${index}`;
    element.dataset.index = String(index);
    element.dataset.category = row.group;
    element.toggleAttribute('data-person', row.person);
    element.setAttribute('aria-selected', String(selected));
    element.setAttribute('aria-posinset', String(index + 1));
    element.setAttribute('aria-setsize', String(this.#shown.length));
    const [at, , what, status, took] = element.children;
    if (at) setText(at, timeOfDay(row.event.ts));
    if (what?.firstElementChild) setText(what.firstElementChild, row.text);
    if (what?.lastElementChild) setText(what.lastElementChild, row.soft);
    if (status) setText(status, row.status);
    if (took) setText(took, row.took);
  }

  #select(index: number): void {
    const row = this.#shown[index];
    if (!row) return;
    this.#selected = row;
    this.#host.setAttribute('aria-activedescendant', `event-${index}`);
    this.#showDetail();
    this.#list.setFollow(false);
    this.#list.reveal(index);
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
    } else if (event.key === 'Escape' && this.#selected) this.#closeDetail();
  }

  #showDetail(): void {
    const row = this.#selected;
    if (!row) return;
    const values = row.answer ? [row.event, row.answer] : [row.event];
    const text = values.map((value) => JSON.stringify(value, null, 2)).join('\n\n');
    const body = h('pre', { class: 'detail-json', tabindex: 0, 'aria-label': 'Event as JSON' });
    values.forEach((value, i) => body.append(i ? '\n\n' : '', jsonView(value)));
    this.#detail.replaceChildren(
      h(
        'div',
        { class: 'detail-bar' },
        h('b', { text: values.map((value) => value.type).join(' → ') }),
        h('div', { class: 'grow' }),
        h('button', { type: 'button', class: 'button quiet square', 'aria-label': 'Copy as JSON', title: 'Copy as JSON', 'data-copy': text, 'data-copied': 'Event copied' }, icon('copy')),
        h('button', { type: 'button', class: 'button quiet square', 'aria-label': 'Close the event', title: 'Close', on: { click: () => this.#closeDetail() } }, icon('close')),
      ),
      body,
    );
    show(this.#detail, true);
  }

  #closeDetail(): void {
    this.#selected = null;
    show(this.#detail, false);
    this.#host.removeAttribute('aria-activedescendant');
    this.#list.refresh();
  }
}
