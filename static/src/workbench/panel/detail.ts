import { h, icon, show } from '../../ui/dom.js';
import { timeOfDay, took } from '../../ui/times.js';
import { curl } from './curl.js';
import { holderWords, str, visible } from './describe.js';
import { jsonView } from './json.js';
import type { CapturedEvent, Row } from './rows.js';
import { phasesOf } from './timing.js';

/** Longest shown text of a body or message; copying copies all of it. */
const LONGEST_TEXT = 100_000;

interface Options {
  host: HTMLElement;
  close(): void;
  /** Returns whether the session has ended, so that nothing more is captured. */
  ended(): boolean;
  /** Captures response bodies from now on. */
  captureBodies(): void;
  /** Fills an element with the script's step at a time, if there is one. */
  step(row: Row, into: HTMLElement): void;
}

interface Section { name: string; words: string; content(): Node }

/** The details of the selected line, in sections: the most useful first, the JSON last. */
export class Detail {
  #row: Row | null = null;
  /** The event that is shown, so that it is not drawn twice. */
  #drawn: CapturedEvent | undefined;
  #messages = 0;
  /** The section that was chosen last. The next line opens with it if it has that section. */
  #section = '';

  constructor(private readonly options: Options) {
    options.host.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      options.close();
    });
  }

  show(row: Row): void {
    if (row === this.#row && row.answer === this.#drawn && (row.messageCount ?? 0) === this.#messages) return;
    this.#row = row;
    this.#drawn = row.answer;
    this.#messages = row.messageCount ?? 0;
    this.#draw(row);
    show(this.options.host, true);
  }

  /** Draws the shown line again, because the session has ended. */
  redraw(): void {
    if (this.#row) this.#draw(this.#row);
  }

  hide(): void {
    this.#row = null;
    show(this.options.host, false);
  }

  focus(): void {
    (this.options.host.querySelector<HTMLElement>('[role=tab][aria-selected=true]') ?? this.options.host.querySelector<HTMLElement>('.detail-body'))?.focus();
  }

  #draw(row: Row): void {
    const sections = this.#sections(row);
    const [fallback] = sections;
    const chosen = sections.find(({ name }) => name === this.#section) ?? fallback;
    const values = row.answer ? [row.event, row.answer] : [row.event];
    const json = values.map((value) => JSON.stringify(value, null, 2)).join('\n\n');
    const request = row.event.type === 'network_request';
    const step = h('span', { class: 'detail-step' });
    const body = h('div', { class: 'detail-body', role: 'tabpanel', tabindex: 0, id: 'detail-body' });
    const tabs = h('div', { class: 'detail-tabs', role: 'tablist', 'aria-label': 'About the event' });
    for (const section of sections) tabs.append(this.#tab(section, section === chosen, tabs, body));
    this.options.host.replaceChildren(
      h(
        'div',
        { class: 'detail-bar' },
        tabs,
        h('div', { class: 'grow' }),
        h('button', { type: 'button', class: 'button quiet square', 'aria-label': 'Close the event', title: 'Close', on: { click: () => this.options.close() } }, icon('close')),
      ),
      h(
        'div',
        { class: 'detail-acts' },
        step,
        request && h('button', { type: 'button', class: 'button quiet', title: 'Copy as a cURL command', 'data-copy': curl(row.event), 'data-copied': 'cURL command copied' }, icon('copy'), h('span', { text: 'cURL' })),
        h('button', { type: 'button', class: 'button quiet', title: 'Copy as JSON', 'data-copy': json, 'data-copied': 'Event copied' }, icon('copy'), h('span', { text: 'JSON' })),
      ),
      body,
    );
    if (chosen) this.#open(chosen, body);
    this.options.step(row, step);
  }

  #tab(section: Section, selected: boolean, tabs: HTMLElement, body: HTMLElement): HTMLElement {
    const choose = (tab: HTMLElement): void => {
      for (const other of tabs.children) {
        other.setAttribute('aria-selected', String(other === tab));
        (other as HTMLElement).tabIndex = other === tab ? 0 : -1;
      }
      this.#section = section.name;
      this.#open(section, body);
    };
    const tab: HTMLElement = h('button', {
      type: 'button', role: 'tab', class: 'pane-tab', id: `detail-tab-${section.name}`, 'aria-selected': String(selected), 'aria-controls': 'detail-body', tabindex: selected ? 0 : -1,
      on: {
        click: () => choose(tab),
        keydown: (event) => {
          const next = event.key === 'ArrowRight' ? tab.nextElementSibling ?? tabs.firstElementChild : event.key === 'ArrowLeft' ? tab.previousElementSibling ?? tabs.lastElementChild : null;
          if (!(next instanceof HTMLElement)) return;
          event.preventDefault();
          next.click();
          next.focus();
        },
      },
    }, section.words);
    return tab;
  }

  #open(section: Section, body: HTMLElement): void {
    body.setAttribute('aria-labelledby', `detail-tab-${section.name}`);
    body.replaceChildren(section.content());
    body.scrollTop = 0;
  }

  #sections(row: Row): Section[] {
    const { event, answer } = row;
    const data = event.data ?? {};
    const list: Section[] = [];
    const add = (name: string, words: string, content: () => Node): void => void list.push({ name, words, content });
    if (event.type === 'network_request' || event.type === 'network_response' || event.type === 'websocket_open') {
      const reply = answer ?? (event.type === 'network_request' ? undefined : event);
      add('headers', 'Headers', () => headers(event, reply));
      if (str(data.post_data)) add('payload', 'Payload', () => textOf(str(data.post_data)));
      if (row.messages) add('messages', 'Messages', () => messages(row));
      else if (event.type !== 'websocket_open') add('response', 'Response', () => this.#response(reply));
      if (phasesOf(reply) || row.span) add('timing', 'Timing', () => timing(row, reply));
    } else if (event.category === 'console') {
      add('message', 'Message', () => consoleMessage(event));
    } else if (event.type === 'screenshot' && str(data.png)) {
      add('picture', 'Picture', () => picture(event));
    } else if (event.type.startsWith('takeover_')) {
      add('request', 'Request', () => request(event));
    }
    add('json', 'JSON', () => {
      const text = h('pre', { class: 'detail-text' });
      text.append(jsonView(event));
      if (answer) text.append('\n\n', jsonView(answer));
      return text;
    });
    return list;
  }

  #response(answer: CapturedEvent | undefined): Node {
    const body = answer?.data?.body;
    if (typeof body === 'string') return textOf(body, str(answer?.data?.mime_type));
    if (!answer) return note('There is no response yet.');
    if (answer.type === 'network_loading_failed') return note(`There was no response: ${str(answer.data?.error_text)}`);
    if (this.options.ended()) return note('The response body was not captured: it is not text, or the capture of bodies was off.');
    return h('div', {}, note('The response body was not captured: it is not text, or the capture of bodies is off.'), h('button', { type: 'button', class: 'button', on: { click: () => this.options.captureBodies() } }, 'Capture bodies from now on'));
  }
}

function note(text: string): HTMLElement {
  return h('p', { class: 'detail-note', text: visible(text) });
}

/** Shows a text unchanged, or formatted if it is JSON; long ones are cut. */
function textOf(text: string, mime = ''): Node {
  let shown: Node = document.createTextNode(visible(text.slice(0, LONGEST_TEXT)));
  if (text.length <= LONGEST_TEXT && (mime.includes('json') || /^\s*[{[]/.test(text))) {
    try {
      shown = jsonView(JSON.parse(text));
    } catch {
      // The text was not JSON.
    }
  }
  const pre = h('pre', { class: 'detail-text' }, shown);
  if (text.length <= LONGEST_TEXT) return pre;
  return h('div', {}, h('p', { class: 'detail-note' }, `The first ${LONGEST_TEXT.toLocaleString()} of ${text.length.toLocaleString()} characters. `, h('button', { type: 'button', class: 'button', 'data-copy': text, 'data-copied': 'Text copied' }, 'Copy all')), pre);
}

function fields(list: (readonly [string, string])[]): HTMLElement {
  return h('dl', { class: 'detail-fields' }, ...list.flatMap(([name, value]) => [h('dt', { text: visible(name) }), h('dd', { text: visible(value) })]));
}

function group(title: string, list: (readonly [string, string])[]): HTMLElement {
  return h('section', {}, h('h3', { text: title }), list.length ? fields(list) : note('None.'));
}

const headerList = (event: CapturedEvent | undefined): (readonly [string, string])[] =>
  Object.entries((event?.data?.headers ?? {}) as Record<string, unknown>)
    .flatMap(([name, values]) => str(values).split('\n').map((value) => [name, value] as const))
    .sort(([a], [b]) => a.localeCompare(b));

/** Says for what a person was asked, by whom, and who helped. */
function request({ ts, data }: CapturedEvent): Node {
  const [reason, asker, helper] = [str(data?.reason), str(data?.requested_by), str(data?.by)];
  const list: [string, string][] = [['At', timeOfDay(ts)]];
  if (reason) list.push(['Reason', reason]);
  if (asker) list.push(['Asked by', ASKERS[asker] ?? asker]);
  if (helper) list.push(['Helper', holderWords(helper)]);
  return fields(list);
}

/** Who asks for a person, in words. */
const ASKERS: Readonly<Record<string, string>> = { script: 'a script', api: 'a program' };

function headers(event: CapturedEvent, answer: CapturedEvent | undefined): Node {
  const data = event.data ?? {};
  const reply = answer?.data ?? {};
  const initiator = data.initiator as { type?: string; url?: string; line?: number } | undefined;
  const general: [string, string][] = [['Address', str(data.url) || str(event.url)], ['Method', str(data.method) || 'GET']];
  if (reply.status) general.push(['Status', `${str(reply.status)} ${str(reply.status_text)}`.trim()]);
  if (reply.error_text) general.push(['Failed', str(reply.error_text)]);
  if (reply.remote_ip) general.push(['Server', `${str(reply.remote_ip)}${reply.protocol ? `, ${str(reply.protocol)}` : ''}`]);
  if (reply.from_cache === true) general.push(['From', 'cache']);
  if (reply.body_size !== undefined) general.push(['Size', `${Number(reply.body_size).toLocaleString()} bytes, ${Number(reply.transfer_size ?? 0).toLocaleString()} transferred`]);
  if (data.redirected_from) general.push(['Redirected from', str(data.redirected_from)]);
  if (initiator?.url) general.push(['Initiator', `${initiator.url}${initiator.line ? `:${initiator.line}` : ''}`]);
  else if (initiator?.type) general.push(['Initiator', initiator.type]);
  const out = document.createDocumentFragment();
  out.append(group('General', general));
  if (answer && answer.type !== 'network_loading_failed') out.append(group('Response headers', headerList(answer)));
  if (event !== answer) out.append(group('Request headers', headerList(event)));
  return out;
}

function timing(row: Row, answer: CapturedEvent | undefined): Node {
  const out = document.createDocumentFragment();
  const started = new Date(row.event.ts);
  out.append(fields([['Began', `${timeOfDay(row.event.ts)}.${String(started.getMilliseconds()).padStart(3, '0')}`], ['Duration', row.span && row.answer ? took(row.span.end - row.span.start) : 'in progress']]));
  const phases = phasesOf(answer);
  if (!phases) return out;
  const total = Math.max(0.001, phases.reduce((sum, { name, ms }) => sum + (name === 'ssl_ms' ? 0 : ms), 0));
  let at = 0;
  const table = h('table', { class: 'phases' }, h('caption', { class: 'unseen', text: 'Phases of the request' }));
  for (const { name, words, ms } of phases) {
    const from = name === 'ssl_ms' ? Math.max(0, at - ms) : at;
    if (name !== 'ssl_ms') at += ms;
    const bar = h('i', { class: `phase ${name}` });
    bar.style.left = `${(from / total) * 100}%`;
    bar.style.width = `${(ms / total) * 100}%`;
    table.append(h('tr', {}, h('th', { scope: 'row', text: words }), h('td', { class: 'phase-track', 'aria-hidden': 'true' }, bar), h('td', { class: 'num', text: took1(ms) })));
  }
  out.append(table);
  return out;
}

const took1 = (ms: number): string => (ms < 10 ? `${ms.toFixed(1)} ms` : took(ms));

function consoleMessage(event: CapturedEvent): Node {
  const data = event.data ?? {};
  const out = document.createDocumentFragment();
  out.append(textOf(str(data.text)));
  const stack = (Array.isArray(data.stack_trace) ? data.stack_trace : []) as { function?: string; url?: string; line?: number; column?: number }[];
  if (stack.length) {
    out.append(h('ol', { class: 'stack', 'aria-label': 'Call stack' }, ...stack.map((call) => h('li', { text: visible(`${call.function || '(anonymous)'} — ${call.url ?? ''}:${call.line ?? 0}:${call.column ?? 0}`) }))));
  } else if (str(data.url)) out.append(note(`${str(data.url)}:${str(data.line)}:${str(data.column)}`));
  return out;
}

function picture(event: CapturedEvent): Node {
  const data = event.data ?? {};
  const [width, height] = [Number(data.width) || 0, Number(data.height) || 0];
  return h('img', { class: 'detail-picture', alt: `The page at ${timeOfDay(event.ts)}`, width, height, src: `data:image/png;base64,${str(data.png)}` });
}

function messages(row: Row): Node {
  const out = document.createDocumentFragment();
  const kept = row.messages ?? [];
  if ((row.messageCount ?? 0) > kept.length) out.append(note(`The last ${kept.length} of ${row.messageCount ?? 0}.`));
  out.append(h('ol', { class: 'socket' }, ...kept.map((message) => {
    const data = message.data ?? {};
    const sent = data.direction === 'sent';
    return h('li', {}, h('span', { class: 'at', text: timeOfDay(message.ts) }), h('span', { class: sent ? 'sent' : 'got', 'aria-label': sent ? 'sent' : 'received', text: sent ? '↑' : '↓' }), h('span', { class: 'said', text: visible(str(data.payload).slice(0, 2_000)) }));
  })));
  return out;
}
