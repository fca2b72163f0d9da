/** From captured events (their schema is snake_case, as the server streams it) to lines of the panel. */

/** An event as the capture tells it. */
export interface CapturedEvent {
  seq: number;
  /** Unix time in ms. */
  ts: number;
  type: string;
  category: string;
  capture_session_id?: string;
  target_id?: string;
  url?: string;
  data?: Record<string, unknown> | null;
  truncated?: boolean;
}

/** What the panel can be narrowed down to. */
export type Filter = 'console' | 'network' | 'page' | 'control' | 'errors';

/** A line of the panel. */
export interface Row {
  event: CapturedEvent;
  /** The answer to a request, once it came. */
  answer?: CapturedEvent;
  group: Exclude<Filter, 'errors'>;
  /** The line in two parts: what it is, and what belongs to it, softer. */
  text: string;
  soft: string;
  status: string;
  took: string;
  level: 'plain' | 'warn' | 'wrong';
  /** A person caused it, as against a script. */
  person: boolean;
  /** What the text filter looks through, in lower case. */
  search: string;
}

const GROUPS: Record<string, Row['group']> = { console: 'console', network: 'network', control: 'control' };

const str = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 500);

/** Host and path, without what makes addresses long. */
export function shortURL(url: string): string {
  try {
    const { protocol, host, pathname, search } = new URL(url);
    if (protocol === 'data:' || protocol === 'blob:') return `${protocol}…`;
    return host + pathname + search;
  } catch {
    return url;
  }
}

/** Who holds control, in words. */
export function holderWords(holder: string): string {
  if (!holder) return 'nobody';
  if (holder.startsWith('viewer:')) return 'a person';
  if (holder.startsWith('client:')) return 'an agent';
  return holder;
}

/** A type without words of its own, as a sentence. */
function sentence(type: string): string {
  const text = type.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function describe(event: CapturedEvent): Pick<Row, 'text' | 'soft' | 'level' | 'person'> & { status?: string } {
  const data = event.data ?? {};
  const text = str(data.text);
  const plain = { level: 'plain' as const, person: false, soft: '' };
  switch (event.type) {
    case 'console_error':
      return { ...plain, text: oneLine(text) || 'Error', soft: str(data.source) === 'console.error' ? '' : str(data.source), level: 'wrong' };
    case 'console_log': {
      const level = str(data.level);
      return { ...plain, text: oneLine(text), level: level === 'warn' || level === 'warning' ? 'warn' : 'plain' };
    }
    case 'network_request':
      return { ...plain, text: `${str(data.method) || 'GET'} ${shortURL(str(data.url) || str(event.url))}` };
    case 'network_response':
      return { ...plain, text: shortURL(str(data.url) || str(event.url)), status: str(data.status) };
    case 'network_loading_failed':
      return { ...plain, text: shortURL(str(data.url) || str(event.url)), soft: str(data.error_text), level: data.canceled === true ? 'plain' : 'wrong' };
    case 'navigation':
      return { ...plain, text: `Navigated to ${shortURL(str(data.url) || str(event.url))}`, soft: str(data.parent_frame_id) ? 'in a frame' : '' };
    case 'dom_content_loaded':
      return { ...plain, text: 'Document parsed', soft: shortURL(str(event.url)) };
    case 'page_load':
      return { ...plain, text: 'Page loaded', soft: shortURL(str(event.url)) };
    case 'page_crashed':
      return { ...plain, text: 'Page crashed', level: 'wrong' };
    case 'dialog_opened':
      return { ...plain, text: `Dialog: ${oneLine(str(data.message)) || str(data.type)}` };
    case 'target_created':
      return { ...plain, text: `New ${str(data.type) || 'target'}`, soft: shortURL(str(data.url)) };
    case 'target_destroyed':
      return { ...plain, text: 'Target closed' };
    case 'control_changed': {
      const holder = str(data.holder);
      return { ...plain, text: `Control: ${holderWords(holder)}`, person: holder.startsWith('viewer:') };
    }
    case 'takeover_requested':
      return { ...plain, text: `Takeover asked: ${oneLine(str(data.reason))}`, person: true };
    case 'takeover_claimed':
      return { ...plain, text: 'Takeover: a person is on it', person: true };
    case 'takeover_done':
      return { ...plain, text: 'Takeover done', soft: oneLine(str(data.note)), person: true };
    case 'takeover_failed':
      return { ...plain, text: 'Takeover failed', soft: oneLine(str(data.note) || str(data.reason)), person: true, level: 'wrong' };
    case 'takeover_expired':
      return { ...plain, text: 'Takeover expired: nobody came', level: 'wrong', person: true };
    case 'takeover_cancelled':
      return { ...plain, text: 'Takeover withdrawn', person: true };
    case 'run_started':
      return { ...plain, text: 'Script started', soft: str(data.filename) };
    case 'run_ended': {
      const status = str(data.status);
      return { ...plain, text: `Script ${status || 'ended'}`, level: status === 'failed' || status === 'timeout' ? 'wrong' : 'plain' };
    }
    case 'viewer_joined':
      return { ...plain, text: 'A viewer joined', soft: str(data.role) };
    case 'viewer_left':
      return { ...plain, text: 'A viewer left' };
    case 'link_used':
      return { ...plain, text: 'A share link was used', soft: str(data.role) };
    case 'link_revoked':
      return { ...plain, text: 'A share link was withdrawn' };
    case 'events_dropped':
      return { ...plain, text: `${str(data.count) || 'Some'} events were dropped`, soft: str(data.why), level: 'warn' };
    case 'monitor_disconnected':
      return { ...plain, text: 'Capture lost the browser', soft: str(data.reason), level: 'wrong' };
    case 'monitor_reconnected':
      return { ...plain, text: 'Capture is back' };
    case 'page_lcp':
      return { ...plain, text: 'Largest element painted', soft: shortURL(str(event.url)) };
    default:
      return { ...plain, text: sentence(event.type), soft: oneLine(text || shortURL(str(data.url) || str(event.url))) };
  }
}

/** The line of an event. */
export function rowOf(event: CapturedEvent): Row {
  const { status = '', ...line } = describe(event);
  const row: Row = { event, group: GROUPS[event.category] ?? 'page', ...line, status, took: '', search: '' };
  row.search = searchable(row);
  return row;
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
    row.soft = canceled ? '' : str(data.error_text);
    row.level = canceled ? 'plain' : 'wrong';
  } else {
    row.status = str(data.status);
    if (Number(row.status) >= 400) row.level = 'wrong';
  }
  const ms = Math.max(0, event.ts - row.event.ts);
  row.took = ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
  row.search = searchable(row);
}

/** Whether a line is shown under a filter and a text searched for, which is in lower case. */
export function passes(row: Row, filter: Filter | 'all', text: string): boolean {
  if (filter === 'errors' ? row.level !== 'wrong' : filter !== 'all' && row.group !== filter) return false;
  return text === '' || row.search.includes(text);
}

/** The lines of one capture, oldest first, with requests and their answers joined. */
export class RowLog {
  rows: Row[] = [];
  #requests = new Map<string, Row>();
  #seen = '';
  #last = 0;

  /** At most `capacity` lines are kept; the oldest go. */
  constructor(readonly capacity: number) {}

  /** Adds an event. Null when it is a repetition; `changed` says that an earlier line took it in. */
  add(event: CapturedEvent): { row: Row; changed: boolean; dropped: number } | null {
    const capture = event.capture_session_id ?? '';
    if (capture === this.#seen && event.seq <= this.#last) return null;
    this.#seen = capture;
    this.#last = event.seq;

    const id = str(event.data?.request_id);
    if (id && event.type !== 'network_request') {
      const request = this.#requests.get(id);
      if (request) {
        this.#requests.delete(id);
        answer(request, event);
        return { row: request, changed: true, dropped: 0 };
      }
    }
    const row = rowOf(event);
    if (id && event.type === 'network_request') {
      // A redirect keeps its request's id: the earlier line is answered by it.
      const earlier = this.#requests.get(id);
      if (earlier) earlier.status ||= 'redirected';
      this.#requests.set(id, row);
    }
    this.rows.push(row);
    let dropped = 0;
    if (this.rows.length > this.capacity) {
      // In one go now and then, rather than one with each event.
      dropped = Math.ceil(this.capacity / 20);
      for (const old of this.rows.splice(0, dropped)) this.#requests.delete(str(old.event.data?.request_id));
    }
    return { row, changed: false, dropped };
  }

  clear(): void {
    this.rows = [];
    this.#requests.clear();
  }
}
