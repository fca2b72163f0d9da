import { capital } from '../../ui/titles.js';
import type { CapturedEvent, Row } from './rows.js';

/** The texts of events for one line of the panel. */

/** Returns a field as text, or an empty text for other values. */
export const str = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');
/** Longest text in a line. */
const LONGEST_LINE = 500;

/** Characters that move or hide neighbouring text, and control characters. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes characters in a page's text that could disguise it. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns a page's text as a single line of limited length. */
export const oneLine = (text: string): string => visible(text.slice(0, 4 * LONGEST_LINE).replace(/\s+/g, ' ')).slice(0, LONGEST_LINE);

/** Returns host and path, without the parts that make addresses long. */
export function shortURL(url: string): string {
  try {
    const { protocol, host, pathname, search } = new URL(url);
    if (protocol === 'data:' || protocol === 'blob:') return `${protocol}…`;
    return oneLine(host + pathname + search);
  } catch {
    return oneLine(url);
  }
}

/** Shortens a URL next to the document that requested it: to the path if the origin is the same. */
export function addressFrom(url: string, document: string): string {
  try {
    const { origin, pathname, search } = new URL(url);
    if (origin !== 'null' && origin === new URL(document).origin) return oneLine(pathname + search);
  } catch {
    // If one is not a URL, or there is no document, everything is shown.
  }
  return shortURL(url);
}

/** Says who has control, in words. */
export function holderWords(holder: string): string {
  if (!holder) return 'nobody';
  if (holder.startsWith('viewer:')) return 'a person';
  if (holder.startsWith('client:')) return 'an agent';
  return holder;
}

/** Viewers by their roles. */
const VIEWERS: Record<string, string> = { view: 'Watcher', control: 'Operator', takeover: 'Helper' };

/** Statuses of a run with other words on the pages. */
const RUN_WORDS: Record<string, string> = { cancelled: 'stopped', timeout: 'timed out' };

/** Returns the text for a type that has no text of its own. */
function sentence(type: string): string {
  return capital(type.replaceAll('_', ' '));
}

/** Describes an event on one line: what it is, and details in a softer colour. */
export function describe(event: CapturedEvent): Pick<Row, 'text' | 'soft' | 'level' | 'person'> & { status?: string } {
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
      return { ...plain, text: `${oneLine(str(data.method)) || 'GET'} ${addressFrom(str(data.url), str(event.url))}` };
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
    case 'page_lcp':
      return { ...plain, text: 'Largest element painted', soft: shortURL(str(event.url)) };
    case 'layout_shift':
      return { ...plain, text: 'Layout shifted', soft: `by ${Number(data.score ?? 0).toFixed(3)}` };
    case 'dialog_closed':
      return { ...plain, text: data.accepted === true ? 'Dialog accepted' : 'Dialog dismissed' };
    case 'download_started':
      return { ...plain, text: `Download: ${oneLine(str(data.filename))}` };
    case 'download_finished':
      return { ...plain, text: `Download ${str(data.state) === 'completed' ? 'finished' : 'cancelled'}: ${oneLine(str(data.filename))}` };
    case 'screenshot':
      return { ...plain, text: 'Screenshot', soft: `${str(data.width)} × ${str(data.height)}, ${str(data.trigger).replaceAll('_', ' ')}` };
    case 'interaction_click':
      return { ...plain, text: `Click ${oneLine(str(data.selector)) || str(data.tag)}`, soft: oneLine(str(data.text)) };
    case 'interaction_key':
      return { ...plain, text: `Key ${oneLine(str(data.key))}`, soft: oneLine(str(data.selector)) };
    case 'interaction_scroll':
      return { ...plain, text: `Scroll to ${Math.round(Number(data.to_x ?? 0))}, ${Math.round(Number(data.to_y ?? 0))}`, soft: oneLine(str(data.target_selector)) };
    case 'websocket_open':
      return { ...plain, text: `WebSocket ${shortURL(str(data.url))}`, status: str(data.status) };
    case 'websocket_frame':
      return { ...plain, text: `WebSocket ${str(data.direction)}: ${oneLine(str(data.payload))}` };
    case 'network_idle':
      return { ...plain, text: 'Network idle', soft: shortURL(str(event.url)) };
    case 'navigation_settled':
      return { ...plain, text: 'Page settled', soft: shortURL(str(event.url)) };
    case 'dialog_opened':
      return { ...plain, text: `Dialog: ${oneLine(str(data.message)) || str(data.type)}` };
    case 'target_created':
      return { ...plain, text: `New ${str(data.type) || 'target'}`, soft: shortURL(str(data.url)) };
    case 'target_destroyed':
      return { ...plain, text: 'Target closed' };
    case 'control_changed': {
      const holder = str(data.holder);
      if (typeof data.held === 'boolean') return { ...plain, text: data.held ? 'Programs are held' : 'Programs go on' };
      return { ...plain, text: `${capital(holderWords(holder))} in control`, person: holder.startsWith('viewer:') };
    }
    case 'takeover_requested':
      return { ...plain, text: `Takeover requested: ${oneLine(str(data.reason))}`, person: true };
    case 'takeover_claimed':
      return { ...plain, text: 'Takeover: a helper is working', person: true };
    case 'takeover_done':
      return { ...plain, text: 'Takeover done', soft: oneLine(str(data.note)), person: true };
    case 'takeover_failed':
      return { ...plain, text: 'Takeover failed', soft: oneLine(str(data.note) || str(data.reason)), person: true, level: 'wrong' };
    case 'takeover_expired':
      return { ...plain, text: 'Takeover expired: nobody finished it in time', level: 'wrong', person: true };
    case 'takeover_cancelled':
      return { ...plain, text: 'Takeover cancelled', person: true };
    case 'run_started':
      return { ...plain, text: 'Script started', soft: str(data.filename) };
    case 'run_ended': {
      const status = str(data.status);
      const error = oneLine(str(data.error));
      return { ...plain, text: `Script ${RUN_WORDS[status] ?? (status || 'ended')}${error ? ':' : ''}`, soft: error, level: status === 'failed' || status === 'timeout' ? 'wrong' : 'plain' };
    }
    case 'viewer_joined':
      return { ...plain, text: `${VIEWERS[str(data.role)] ?? 'Viewer'} joined` };
    case 'viewer_left':
      return { ...plain, text: `${VIEWERS[str(data.role)] ?? 'Viewer'} left` };
    case 'link_used':
      return { ...plain, text: 'A share link was used', soft: str(data.role) };
    case 'link_revoked':
      return { ...plain, text: 'A share link was revoked' };
    case 'profile_filling':
      return { ...plain, text: 'The browser has stored 80 % of what it may; with more than all of it, the session ends', level: 'wrong' };
    case 'profile_full':
      return { ...plain, text: 'The browser stored more than it may; the session ended', level: 'wrong' };
    case 'memory_full':
      return { ...plain, text: 'The browser used all the memory that it may; the system ended a part of it', level: 'wrong' };
    case 'limit_reached':
      return { ...plain, text: `A limit of the session was reached: ${str(data.limit)}`, level: 'wrong' };
    case 'hibernated':
      return { ...plain, text: data.hibernates === true ? 'The session hibernates: its browser was stopped until the next use' : 'The session woke up' };
    case 'action_started':
      return { ...plain, text: `${holderWords(str(data.actor))}: ${oneLine(str(data.operation))}`, soft: oneLine(str(data.target)) };
    case 'action_ended': {
      const ok = data.ok === true;
      return {
        ...plain,
        text: `${holderWords(str(data.actor))}: ${oneLine(str(data.operation))} ${ok ? 'done' : 'failed'}`,
        soft: ok ? `${str(data.duration_ms)} ms` : oneLine(str(data.error)),
        level: ok ? 'plain' : 'wrong',
      };
    }
    case 'events_dropped':
      return { ...plain, text: `${str(data.count) || 'Some'} events were dropped`, soft: str(data.why), level: 'warn' };
    case 'monitor_disconnected':
      return { ...plain, text: 'Capture lost its connection to the browser', soft: str(data.reason), level: 'wrong' };
    case 'monitor_reconnected':
      return { ...plain, text: 'Capture reconnected' };
    case 'monitor_reconnect_failed':
      return { ...plain, text: 'Capture failed: it could not attach to the browser again', soft: str(data.reason), level: 'wrong' };
    default:
      return { ...plain, text: sentence(event.type), soft: oneLine(text || shortURL(str(data.url) || str(event.url))) };
  }
}
