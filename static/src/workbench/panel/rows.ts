import { describe, str } from './describe.js';
import { burstOf, spanOf, type Burst, type Span } from './timing.js';

/** From captured events (their schema is snake_case, as the server streams it) to lines of the panel. */

/** An event as the capture tells it. */
export interface CapturedEvent {
  seq: number;
  /** Unix time in ms. */
  ts: number;
  type: string;
  category: string;
  capture_session_id?: string;
  cdp_session_id?: string;
  target_id?: string;
  url?: string;
  data?: Record<string, unknown> | null;
  truncated?: boolean;
}

/** What the panel can be narrowed down to. */
export type Filter = 'console' | 'network' | 'page' | 'interaction' | 'control' | 'errors';

/** How a request stands, for the filter of that name. */
export type Standing = '' | '1' | '2' | '3' | '4' | '5' | 'failed' | 'pending';

/** What lines have to be to be shown; empty fields ask for nothing. */
export interface Wanted {
  filter: Filter | 'all';
  /** In lower case. */
  text: string;
  standing: Standing;
  /** Id of a target. */
  tab: string;
}

/** Everything. */
export const ALL: Wanted = { filter: 'all', text: '', standing: '', tab: '' };

/** A line of the panel. */
export interface Row {
  event: CapturedEvent;
  /** The answer to a request, once it came. */
  answer?: CapturedEvent;
  /** The last messages of a WebSocket, and how many there were. */
  messages?: CapturedEvent[];
  messageCount?: number;
  group: Exclude<Filter, 'errors'>;
  /** The line in two parts: what it is, and what belongs to it, softer. */
  text: string;
  soft: string;
  status: string;
  standing: Standing;
  took: string;
  level: 'plain' | 'warn' | 'wrong';
  /** A person caused it, as against a script. */
  person: boolean;
  /** When a request began and ended, and which others it came with. */
  span?: Span;
  burst?: Burst;
  /** What the text filter looks through, in lower case. */
  search: string;
}

const GROUPS: Record<string, Row['group']> = { console: 'console', network: 'network', control: 'control', interaction: 'interaction' };

/** Messages of a WebSocket that its line keeps. */
const MESSAGES = 200;

/** The line of an event. */
export function rowOf(event: CapturedEvent): Row {
  const { status = '', ...line } = describe(event);
  const standing = event.type === 'network_request' ? 'pending' : standingOf(status);
  const row: Row = { event, group: GROUPS[event.category] ?? 'page', ...line, status, standing, took: '', search: '' };
  row.search = searchable(row);
  return row;
}

function standingOf(status: string): Standing {
  return /^[1-5]\d\d$/.test(status) ? (status[0] as Standing) : '';
}

function searchable(row: Row): string {
  return `${row.event.type} ${row.text} ${row.soft} ${row.status}`.toLowerCase();
}

/** Puts the answer to a request on the request's line. */
export function answer(row: Row, event: CapturedEvent): void {
  const data = event.data ?? {};
  row.answer = event;
  if (event.type === 'network_loading_failed') {
    const canceled = data.canceled === true;
    row.status = canceled ? 'canceled' : 'failed';
    row.standing = 'failed';
    row.soft = canceled ? '' : str(data.error_text);
    row.level = canceled ? 'plain' : 'wrong';
  } else if (event.type === 'websocket_close') {
    if (str(data.error)) {
      row.level = 'wrong';
      row.standing = 'failed';
      row.soft = str(data.error);
    }
  } else {
    row.status = str(data.status);
    row.standing = standingOf(row.status);
    if (Number(row.status) >= 400) row.level = 'wrong';
  }
  row.span = spanOf(row.event, event);
  const ms = row.span.end - row.span.start;
  row.took = ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
  if (row.burst) row.burst.end = Math.max(row.burst.end, row.span.end);
  row.search = searchable(row);
}

function message(row: Row, event: CapturedEvent): void {
  row.messages ??= [];
  if (row.messages.push(event) > MESSAGES) row.messages.shift();
  row.messageCount = (row.messageCount ?? 0) + 1;
  row.soft = row.messageCount === 1 ? '1 message' : `${row.messageCount} messages`;
}

/** Whether a line is shown. */
export function passes(row: Row, { filter, text, standing, tab }: Wanted): boolean {
  if (filter === 'errors' ? row.level !== 'wrong' : filter !== 'all' && row.group !== filter) return false;
  if (standing && row.standing !== standing) return false;
  if (tab && row.event.target_id !== tab) return false;
  return text === '' || row.search.includes(text);
}

/** How many lines there are of each kind. */
export type Counts = Record<Filter, number>;

/** What an event did to the lines. */
export interface Outcome {
  row: Row;
  /** An earlier line took it in. */
  changed: boolean;
  /** Lines that had to go for it. */
  dropped: number;
}

/** The lines of one capture, oldest first, with requests and their answers joined. */
export class RowLog {
  rows: Row[] = [];
  #requests = new Map<string, Row>();
  #bursts = new Map<string, Burst>();
  #last = 0;

  /** At most `capacity` lines are kept; the oldest go. */
  constructor(readonly capacity: number) {}

  /** Adds an event. Null when it is a repetition: a seq is never used twice in a session. */
  add(event: CapturedEvent): Outcome | null {
    if (event.seq <= this.#last) return null;
    this.#last = event.seq;
    const key = requestKey(event);
    const joined = key ? this.#join(key, event) : null;
    if (joined) return { row: joined, changed: true, dropped: 0 };
    const row = rowOf(event);
    if (key && (event.type === 'network_request' || event.type === 'websocket_open')) {
      this.#requests.set(key, row);
      row.span = { start: event.ts, end: event.ts };
      row.burst = burstOf(this.#bursts.get(event.target_id ?? ''), event);
      this.#bursts.set(event.target_id ?? '', row.burst);
    }
    this.rows.push(row);
    let dropped = 0;
    if (this.rows.length > this.capacity) {
      // In one go now and then, rather than one with each event.
      dropped = Math.ceil(this.capacity / 20);
      for (const old of this.rows.splice(0, dropped)) {
        const oldKey = requestKey(old.event);
        if (this.#requests.get(oldKey) === old) this.#requests.delete(oldKey);
      }
    }
    return { row, changed: false, dropped };
  }

  /** Puts what belongs to an earlier request on its line, which it returns. */
  #join(key: string, event: CapturedEvent): Row | null {
    const request = this.#requests.get(key);
    if (!request) return null;
    if (event.type === 'network_request') {
      // A redirect keeps its request's id: the earlier line is answered by it.
      request.status ||= str((event.data?.redirect_response as { status?: number } | undefined)?.status) || 'redirected';
      request.standing = '3';
      request.span = { start: request.event.ts, end: event.ts };
      this.#requests.delete(key);
      return null;
    }
    if (event.type === 'websocket_frame') message(request, event);
    else {
      this.#requests.delete(key);
      answer(request, event);
    }
    return request;
  }

  count(): Counts {
    const counts: Counts = { console: 0, network: 0, page: 0, interaction: 0, control: 0, errors: 0 };
    for (const row of this.rows) {
      counts[row.group]++;
      if (row.level === 'wrong') counts.errors++;
    }
    return counts;
  }

  clear(): void {
    this.rows = [];
    this.#requests.clear();
    this.#bursts.clear();
  }
}

/** Chromium's ids of requests are unique within a target only. */
function requestKey(event: CapturedEvent): string {
  const id = str(event.data?.request_id);
  return id && `${event.cdp_session_id ?? ''} ${id}`;
}
