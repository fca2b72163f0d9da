import { AbortError, dress, fromWire, TimeoutError } from './errors.ts';
import { host, type Trace } from './host.ts';
import { waiting } from './pending.ts';

const { stringify, parse } = JSON;

/** Sends one operation to the server and returns its answer; a signal can end it. */
export type Send = <T = unknown>(op: string, params?: object, signal?: AbortSignal) => Promise<T>;

/** The operation that later operations wait for. */
let before: Promise<unknown> | undefined;

/** Calls an operation. All later operations wait for it. */
export function ahead<T>(op: string, params: object): Promise<T> {
  const answer = send<T>(op, params, host.trace());
  const mine: Promise<unknown> = answer.catch(() => {}).then(() => {
    if (before === mine)
      before = undefined;
  });
  before = mine;
  return answer;
}

/** Calls an operation whose result nobody needs. All later operations wait for it. */
export function first(op: string, params: object): void { ahead(op, params).catch(() => {}); }

function send<T>(op: string, params: object | undefined, trace: Trace, signal?: AbortSignal): Promise<T> {
  return before ? before.then(() => sendNow<T>(op, params, trace, signal)) : sendNow<T>(op, params, trace, signal);
}

function sendNow<T>(op: string, params: object | undefined, trace: Trace, signal?: AbortSignal): Promise<T> {
  const answer = host.call<T>(op, stringify(params ?? {}), trace);
  if (signal) {
    const abort = () => host.abort(answer, abortedText + reasonOf(signal));
    const over = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) // the signal was aborted while this operation waited for earlier ones
      abort();
    signal.addEventListener('abort', abort);
    answer.then(over, over);
  }
  return answer;
}

/** The host calls this with the result of an operation. The call's promise settles with what this returns or throws. */
host.settle = (failure, answer, call, startedAt, duration) => {
  try {
    if (failure !== null)
      throw fromWire(failure);
    let value: unknown = answer === '' ? undefined : parse(answer);
    if (call?.take)
      value = call.take(value);
    if (call?.title)
      host.step(call.title(), startedAt, duration, '', call.trace);
    return value;
  } catch (e) {
    if (!call)
      throw e;
    const error = dress(e, call.name, call.trace);
    if (call.title)
      host.step(call.title(), startedAt, duration, messageOf(error), call.trace);
    throw error;
  }
};

function messageOf(error: unknown): string { return error instanceof Error ? error.message : String(error); }

/** Options with which the script may end a call early. */
export interface Abortable { signal?: AbortSignal }

const abortedText = 'operation was aborted: ';

/** Returns the error of a call that a signal may have ended, with the log up to that point. */
function abortedError(error: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted || !(error instanceof Error) || !error.message.includes(abortedText))
    return error;
  const reason = reasonOf(signal);
  const begin = '\nCall log:\n';
  const at = error.message.indexOf(begin);
  const log = at < 0 ? '' : error.message.slice(at + begin.length);
  return new AbortError(`${reason}${begin}${log}  - ${abortedText}${reason}\n`, signal.reason);
}

/** Returns a signal's reason as text. */
export function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : String(reason);
}

/** Receives the operations of the script's calls, for traces. */
export interface CallTracer {
  before(call: string, op: string, params: object, title: string, trace: Trace): void;
  only(call: string, name: string, title: string, start: number, error: unknown, trace: Trace): void;
  after(call: string, error?: unknown): void;
}

/** Undefined while no trace is recorded. */
let tracers: CallTracer[] | undefined;
let lastTraced = 0;

/** Traces calls until the returned function is called. */
export function traceCalls(tracer: CallTracer): () => void {
  tracers = [...tracers ?? [], tracer];
  return () => {
    const left = tracers!.filter(t => t !== tracer);
    tracers = left.length ? left : undefined;
  };
}

/** Returns a new name for a call in a trace. */
export function nextTraced(): string { return `call@${++lastTraced}`; }

/** Sends an operation that appears in traces. */
async function sendTraced<T>(go: Send, op: string, params: object, title: string, trace: Trace, own?: AbortSignal): Promise<T> {
  const call = nextTraced();
  const told = tracers!;
  told.forEach(t => t.before(call, op, params, title, trace));
  try {
    const answer = await go<T>(op, { ...params, tracedAs: call }, own);
    told.forEach(t => t.after(call));
    return answer;
  } catch (e) {
    told.forEach(t => t.after(call, e));
    throw e;
  }
}

/**
 * Runs one call that the script made to the API. The call is reported as a step when it ends, and its errors contain its name and position. All
 * public methods that wait for something use this. A signal in its options ends its operations; other waits in its body must use the function wait.
 * label is its name in the log if nobody awaits it; default: name.
 */
export function step<T>(name: string, title: () => string, body: (send: Send) => T | Promise<T>, options?: object, label = name): Promise<T> {
  const trace = host.trace();
  const promise = perform(name, title, body, trace, options);
  if (!quiet)
    host.watch(promise, label, trace);
  return promise;
}

async function perform<T>(name: string, title: () => string, body: (send: Send) => T | Promise<T>, trace: Trace, options?: object): Promise<T> {
  const { signal } = (options ?? {}) as Abortable;
  const startedAt = host.clock();
  const start = host.now();
  const silent = quiet;
  let sent = silent;
  const open = silent ? 0 : host.begin(title, startedAt, trace);
  const report = (error: string, thrown?: unknown) => {
    if (silent)
      return;
    host.over(open);
    host.step(title(), startedAt, host.now() - start, error, trace);
    if (!sent)
      tracers?.forEach(t => t.only(nextTraced(), name, title(), start, thrown, trace));
  };
  try {
    if (signal && typeof signal.addEventListener !== 'function')
      throw new TypeError('signal.addEventListener is not a function');
    if (signal?.aborted)
      throw new AbortError(undefined, signal.reason);
    const value = await body(tracers && !silent ? tracing(trace, title, signal, () => { sent = true; }) : plain(trace, signal));
    report('');
    return value;
  } catch (e) {
    const error = dress(e, name, trace);
    report(messageOf(error), error);
    throw error;
  }
}

/** Returns a function that sends operations, which a signal may end. */
function plain(trace: Trace, signal: AbortSignal | undefined): Send {
  return signal ? abortable(trace, signal) : (op, params, own) => send(op, params, trace, own);
}

/** Returns a function that sends operations that appear in traces. It calls told before it sends one. */
function tracing(trace: Trace, title: () => string, signal: AbortSignal | undefined, told: () => void): Send {
  const go = plain(trace, signal);
  return (op, params, own) => {
    if (!tracers || recording.test(op))
      return go(op, params, own);
    told();
    return sendTraced(go, op, params ?? {}, title(), trace, own);
  };
}

/** Returns a function that sends operations that a signal can end. */
function abortable(trace: Trace, signal: AbortSignal): Send {
  return async (op, params, own) => {
    try {
      return await send(op, params, trace, own ?? signal);
    } catch (e) {
      throw own ? e : abortedError(e, signal);
    }
  };
}

/**
 * Runs a step with one operation: like step with a body that sends op with params and passes the answer to take. The host does nearly all of it,
 * which takes a fraction of the time.
 */
export function stepOf<T>(name: string, title: () => string, op: string, params: () => object, take: ((answer: any) => T) | undefined, options?: object): Promise<T> {
  if (!before && !tracers && !(options as Abortable | undefined)?.signal) {
    try {
      const trace = host.trace();
      return host.call<T>(op, stringify(params()), trace, { name, title: quiet ? undefined : title, take, trace });
    } catch {
      // It is thrown again below, where the call has a promise to reject.
    }
  }
  return step(name, title, async send => {
    const answer = await send(op, params());
    return take ? take(answer) : answer as T;
  }, options);
}

/** Operations that do not appear in traces. */
const recording = /^(trace|har|files)\./;

let quiet = false;

/** Starts calls that are not steps of the script, such as those that set up fixtures. */
export function muted<T>(begin: () => T): T {
  quiet = true;
  try {
    return begin();
  } finally {
    quiet = false;
  }
}

/** Sends an operation that is not a step of the script, such as disposing a handle. */
export function quietly<T>(op: string, params?: object): Promise<T> {
  return send<T>(op, params, host.trace());
}

/** Default timeout of every wait, in ms, as in Playwright. */
export const defaultTimeout = 30_000;

/** Timeouts, as set by setDefaultTimeout and setDefaultNavigationTimeout. */
export class Timeouts {
  private general: number | undefined;
  private navigating: number | undefined;

  constructor(private readonly parent?: Timeouts) {}

  setGeneral(ms: number): void { this.general = ms; }
  setNavigation(ms: number): void { this.navigating = ms; }

  /** Returns the timeout of an action with these options. */
  action(options?: { timeout?: number }): number {
    return options?.timeout ?? this.general ?? this.parent?.action() ?? defaultTimeout;
  }

  /** Returns the timeout of a navigation with these options. */
  navigation(options?: { timeout?: number }): number {
    return options?.timeout ?? this.navigating ?? this.general ?? this.parent?.navigation() ?? defaultTimeout;
  }
}

/**
 * Watches for something. It settles the wait by calling one of its parameters, and returns the function that stops watching. It calls abandon when
 * what it watches for can no longer happen; abandon rejects with the error and adds the log to it.
 */
export type Watch<T> = (resolve: (value: T) => void, reject: (error: Error) => void, abandon: (error: Error) => void) => () => void;

/**
 * Waits for the value with which watch resolves, for at most timeout ms (0: no limit). event is the name of the awaited event, if it has one. A
 * signal ends the wait.
 */
export function wait<T>(timeout: number, log: string[], watch: Watch<T>, event?: string, options?: object): Promise<T> {
  const { signal } = (options ?? {}) as Abortable;
  return new Promise<T>((resolve, reject) => {
    let timer = 0;
    let stop: (() => void) | undefined;
    let over = false;
    let taken: (() => void) | undefined;
    const end = (f: () => void) => {
      if (over)
        return;
      over = true;
      if (timer)
        host.clearTimer(timer);
      taken?.();
      signal?.removeEventListener('abort', abort);
      stop?.();
      f();
    };
    const abort = () => end(() => reject(new AbortError('The operation was aborted' + formatLog(log), signal!.reason)));
    const fail = (error: Error) => end(() => reject(error));
    stop = watch(value => end(() => resolve(value)), fail, error => {
      error.message += formatLog(log);
      fail(error);
    });
    if (over)
      return stop();
    signal?.addEventListener('abort', abort);
    taken = waiting(reason => end(() => reject(new Error(reason + formatLog(log)))));
    if (timeout > 0)
      timer = host.setTimer(() => end(() => reject(new TimeoutError(`Timeout ${timeout}ms exceeded${event === undefined ? '.' : ` while waiting for event "${event}"`}${formatLog(log)}`))), timeout, false);
  });
}

function formatLog(log: string[]): string {
  if (!log.length)
    return '';
  const header = ' logs ';
  const rule = '='.repeat(27);
  return `\n${rule}${header}${rule}\n${log.join('\n')}\n${'='.repeat(2 * rule.length + header.length)}`;
}

/** Returns the named fields of options, without missing ones. */
export function pick(options: object | undefined, names: readonly string[]): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const name of names) {
    const value = (options as Record<string, unknown> | undefined)?.[name];
    if (value !== undefined)
      out[name] = value;
  }
  return out;
}
