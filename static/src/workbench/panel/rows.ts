import { describe, str } from './describe.js';
import { burstOf, spanOf, type Burst, type Span } from './timing.js';

/** Converts captured events (in snake_case, as streamed) to lines of the panel. */

/** An event as the server sends it. */
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

/** The kinds of the filter. */
export type Filter = 'console' | 'network' | 'page' | 'interaction' | 'control' | 'errors';

/** The request states that the filter offers. */
export type Standing = '' | '1' | '2' | '3' | '4' | '5' | 'failed' | 'pending';

/** The conditions for lines to be shown. An empty field permits everything. */
export interface Wanted {
  filter: Filter | 'all';
  /** In lower case. */
  text: string;
  standing: Standing;
  /** Id of a target. */
  tab: string;
  /** Without a kind and a text, control events are left out, but for errors, runs and requests for a person. */
  folded: boolean;
}

/** Shows all lines. */
export const ALL: Wanted = { filter: 'all', text: '', standing: '', tab: '', folded: false };

/** A line of the panel. */
export interface Row {
  event: CapturedEvent;
  /** The response of a request, once it has arrived. */
  answer?: CapturedEvent;
  /** The last messages of a WebSocket, and their number. */
  messages?: CapturedEvent[];
  messageCount?: number;
  group: Exclude<Filter, 'errors'>;
  /** The line in two parts: what it is, and details in a softer colour. */
  text: string;
  soft: string;
  status: string;
  standing: Standing;
  took: string;
  level: 'plain' | 'warn' | 'wrong';
  /** A person got control, or the event is about a takeover. The panel marks such lines. */
  person: boolean;
  /** When a request began and ended, and its burst. */
  span?: Span;
  burst?: Burst;
  /** The text for the text filter, in lower case. */
  search: string;
}

const GROUPS: Record<string, Row['group']> = { console: 'console', network: 'network', control: 'control', interaction: 'interaction' };

/** How many messages of a WebSocket its line keeps. */
const MESSAGES = 200;

/** Returns the line of an event. */
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

/** Adds the response to the request's line. */
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

/** Returns whether a line says only that somebody came or left. Such lines are many, so they are left out unless they are asked for. */
export function comesOrGoes({ event }: Row): boolean {
  return event.type === 'viewer_joined' || event.type === 'viewer_left';
}

/** Returns whether a line tells of a run, of a request for a person, or of an error. */
function tells({ event, level }: Row): boolean {
  return level === 'wrong' || /^(run|takeover)_/.test(event.type);
}

/** Returns whether a line is shown. */
export function passes(row: Row, { filter, text, standing, tab, folded }: Wanted): boolean {
  if (filter === 'all' && text === '' && (folded ? row.group === 'control' && !tells(row) : comesOrGoes(row))) return false;
  if (filter === 'errors' ? row.level !== 'wrong' : filter !== 'all' && row.group !== filter) return false;
  if (standing && row.standing !== standing) return false;
  if (tab && row.event.target_id !== tab) return false;
  return text === '' || row.search.includes(text);
}

/** The number of lines of each kind. */
export type Counts = Record<Filter | 'visits', number>;

/** The effect of an event on the lines. */
export interface Outcome {
  row: Row;
  /** An earlier line now includes it. */
  changed: boolean;
  /** Its line stands before others, because it happened before them. */
  late: boolean;
  /** Number of lines that were removed to make room. */
  dropped: number;
}

/** The lines of one capture, in the order of their times: what happened first may arrive later. A request and its response share a line. */
export class RowLog {
  rows: Row[] = [];
  #requests = new Map<string, Row>();
  #bursts = new Map<string, Burst>();
  #last = 0;

  /** Keeps at most `capacity` lines; the oldest are removed first. */
  constructor(readonly capacity: number) {}

  /** Adds an event. Returns null for a repeated one: a seq is used only once in a session. */
  add(event: CapturedEvent): Outcome | null {
    if (event.seq <= this.#last) return null;
    this.#last = event.seq;
    const key = requestKey(event);
    const joined = key ? this.#join(key, event) : null;
    if (joined) return { row: joined, changed: true, late: false, dropped: 0 };
    const row = rowOf(event);
    if (key && (event.type === 'network_request' || event.type === 'websocket_open')) {
      this.#requests.set(key, row);
      row.span = { start: event.ts, end: event.ts };
      row.burst = burstOf(this.#bursts.get(event.target_id ?? ''), event);
      this.#bursts.set(event.target_id ?? '', row.burst);
    }
    let at = this.rows.length;
    while (at > 0 && (this.rows[at - 1]?.event.ts ?? 0) > event.ts) at--;
    const late = at < this.rows.length;
    this.rows.splice(at, 0, row);
    let dropped = 0;
    if (this.rows.length > this.capacity) {
      // Removes several at a time, instead of one with each event.
      dropped = Math.ceil(this.capacity / 20);
      for (const old of this.rows.splice(0, dropped)) {
        const oldKey = requestKey(old.event);
        if (this.#requests.get(oldKey) === old) this.#requests.delete(oldKey);
      }
    }
    return { row, changed: false, late, dropped };
  }

  /** Adds an event to the line of its request, and returns that line. */
  #join(key: string, event: CapturedEvent): Row | null {
    const request = this.#requests.get(key);
    if (!request) return null;
    if (event.type === 'network_request') {
      // A redirect keeps its request's id, and is the response of the earlier line.
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
    const counts: Counts = { console: 0, network: 0, page: 0, interaction: 0, control: 0, errors: 0, visits: 0 };
    for (const row of this.rows) {
      counts[comesOrGoes(row) ? 'visits' : row.group]++;
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

/** Returns the key of an event's request. Chromium's request ids are unique only within a target. */
function requestKey(event: CapturedEvent): string {
  const id = str(event.data?.request_id);
  return id && `${event.cdp_session_id ?? ''} ${id}`;
}
