// The events of a trace about the script's calls, in the format of Playwright's trace viewer: one JSON object for each start and each end of a call.
// The server adds its own events (automation/trace.go).

import { nextTraced, traceCalls } from '../core/call.ts';
import type { BrowserContext } from './context.ts';
import { listen } from '../core/emitter.ts';
import type { ConsoleMessage } from './consolemessage.ts';
import type { WebError } from './events.ts';
import { host, type Trace } from '../core/host.ts';
import type { Page } from './page.ts';

/** The version of the format, as written by the version of Playwright that this API follows. */
const version = 10;

/** The largest number of events in a trace, and of their characters. Later ones are omitted. */
const maxEvents = 40_000;
const maxText = 16 << 20;

/** The longest parameter that is recorded, in characters of JSON. */
const maxParam = 2_000;

/** Maps our operations to Playwright's names of classes and methods. */
const classNames: Record<string, string> = { context: 'BrowserContext', handle: 'ElementHandle', api: 'APIRequestContext', route: 'Route', response: 'Response', keyboard: 'Page', mouse: 'Page', touchscreen: 'Page' };
const methodNames: Record<string, string> = { evaluate: 'evaluateExpression', evaluateHandle: 'evaluateExpressionHandle', evaluateOnElement: 'evaluateExpression' };

/** Parameters that say where a call happens, and not what it does. */
const places = new Set(['frame', 'page', 'context', 'handle', 'request', 'har', 'trace', 'worker', 'arg', 'data', 'body']);

type Event = Record<string, unknown>;

export class TraceEvents {
  readonly #context: BrowserContext;
  readonly #base: number;
  #events: Event[] = [];
  #stacks: [string, string][] = [];
  #size = 0;
  #groups: string[] = [];
  #stops: (() => void)[] = [];
  /** The running calls, with their frames. */
  #calls = new Map<string, string>();
  recording = false;

  /** base is the host's time at which the server started the trace. */
  constructor(context: BrowserContext, base: number) {
    this.#context = context;
    this.#base = base;
  }

  begin(title: string | undefined): void {
    const { baseURL, viewport, deviceScaleFactor, isMobile, userAgent } = this.#context._options;
    const browser = this.#context.browser();
    this.#events = [{
      version, type: 'context-options', origin: 'library', browserName: browser.browserType().name(), options: { baseURL, viewport, deviceScaleFactor, isMobile, userAgent },
      platform: 'linux', wallTime: Date.now(), monotonicTime: this.#now(), sdkLanguage: 'javascript', title,
    }];
    this.#stacks = [];
    this.#size = 0;
    this.recording = true;
    const context = this.#context;
    this.#stops = [
      listen(context, 'page', (page: Page) => this.#add({ type: 'event', time: this.#now(), class: 'BrowserContext', method: 'page', params: { pageId: page._guid } })),
      listen(context, 'console', (message: ConsoleMessage) => this.#onConsole(message)),
      listen(context, 'weberror', (error: WebError) => this.#onError(error)),
      traceCalls(this),
    ];
  }

  /** Ends the recording and returns what the server writes. */
  end(): { events: Event[]; stacks: object } {
    while (this.#groups.length)
      this.groupEnd();
    this.recording = false;
    this.#stops.forEach(stop => stop());
    this.#calls.clear();
    const files: string[] = [];
    const stacks = this.#stacks.map(([call, frames]) => [call, framesOf(frames, files)]);
    return { events: this.#events, stacks: { files, stacks } };
  }

  group(name: string, trace: Trace, location?: { file: string; line?: number; column?: number }): void {
    if (!this.recording)
      return;
    const call = nextTraced();
    this.#begin(call, { title: name, class: 'Tracing', method: 'tracingGroup', params: {}, ...location && { stack: [{ line: 0, column: 0, ...location }] } }, trace);
    this.#groups.push(call);
  }

  groupEnd(): void {
    const call = this.#groups.pop();
    if (call !== undefined)
      this.after(call);
  }

  /** Records that an operation starts. */
  before(call: string, op: string, params: object, title: string, trace: Trace): void {
    const [space, method] = op.split('.') as [string, string];
    const input = space === 'keyboard' || space === 'mouse' || space === 'touchscreen';
    this.#begin(call, {
      class: classNames[space] ?? capital(space),
      method: input ? space + capital(method) : methodNames[method] ?? method,
      params: shown(params),
      ...method === 'expect' && { title: title.replace(/^(Expect ".*?").*/s, '$1') },
    }, trace);
  }

  /** Records a call that sends nothing, such as waiting for an event, after it has ended. */
  only(call: string, name: string, title: string, start: number, error: unknown, trace: Trace): void {
    const [space = '', method = ''] = name.split('.');
    if (space === 'tracing' || name === '')
      return;
    this.#begin(call, { title, class: capital(space), method, params: {} }, trace, start);
    this.after(call, error);
  }

  after(call: string, error?: unknown): void {
    const frames = this.#calls.get(call);
    if (frames === undefined)
      return;
    this.#calls.delete(call);
    const event: Event = { type: 'after', callId: call, endTime: this.#now() };
    if (error !== undefined) {
      const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
      const text = message.split('\nCall log:')[0]!;
      event['error'] = { name, message: text, stack: `${name}: ${text}${frames}` };
    }
    this.#add(event);
  }

  #begin(call: string, what: Event, trace: Trace, start?: number): void {
    const parentId = this.#groups.at(-1);
    if (!this.recording || !this.#add({ type: 'before', callId: call, startTime: this.#now(start), ...what, ...parentId !== undefined && { parentId } }))
      return;
    const frames = host.frames(trace);
    this.#calls.set(call, frames);
    this.#size += frames.length;
    this.#stacks.push([call, frames]);
  }

  #onConsole(message: ConsoleMessage): void {
    const { url, lineNumber, columnNumber } = message.location();
    this.#add({
      type: 'console', messageType: message.type(), text: message.text(), args: message.args().map(a => ({ preview: String(a) })),
      location: { url, lineNumber, columnNumber }, time: this.#now(), pageId: message.page()?._guid,
    });
  }

  #onError(error: WebError): void {
    const { name, message, stack } = error.error();
    this.#add({
      type: 'event', time: this.#now(), class: 'BrowserContext', method: 'pageError', params: { error: { error: { message, stack, name } }, location: error.location() }, pageId: error.page()?._guid,
    });
  }

  #add(event: Event): boolean {
    const size = JSON.stringify(event).length;
    if (this.#events.length >= maxEvents || this.#size + size > maxText)
      return false;
    this.#size += size;
    this.#events.push(event);
    return true;
  }

  /** Returns the time on the trace's clock, in milliseconds. */
  #now(at = host.now()): number { return 1 + at - this.#base; }
}

function capital(text: string): string { return text.slice(0, 1).toUpperCase() + text.slice(1); }

/** Returns the parameters that say what a call does. */
function shown(params: object): object {
  return Object.fromEntries(Object.entries(params).filter(([name, value]) => !places.has(name) && value !== undefined && JSON.stringify(value).length <= maxParam));
}

/** Converts frames to the viewer's format. Files are referred to by their index in a list. */
function framesOf(text: string, files: string[]): unknown[] {
  const frames: unknown[] = [];
  for (const line of text.split('\n')) {
    const found = /^\s*at (?:(.*) \()?(.+):(\d+):(\d+)\)?$/.exec(line);
    if (!found)
      continue;
    const [, name = '', file, row, column] = found;
    if (!files.includes(file!))
      files.push(file!);
    frames.push([files.indexOf(file!), Number(row), Number(column), name]);
  }
  return frames;
}
