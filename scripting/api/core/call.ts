import { AbortError, dress, fromWire, TimeoutError } from './errors.ts';
import { host, type Trace } from './host.ts';
import { waiting } from './pending.ts';

const { stringify, parse } = JSON;
const now = Date.now;

/** Sends one operation to the server and gives its answer; a signal can end it. */
export type Send = <T = unknown>(op: string, params?: object, signal?: AbortSignal) => Promise<T>;

/** What operations wait for that are called from now on. */
let before: Promise<unknown> | undefined;

/** Calls an operation that all later ones wait for. */
export function ahead<T>(op: string, params: object): Promise<T> {
  const answer = send<T>(op, params, host.trace());
  const mine: Promise<unknown> = answer.catch(() => {}).then(() => {
    if (before === mine)
      before = undefined;
  });
  before = mine;
  return answer;
}

/** The same, and tells nobody how it went. */
export function first(op: string, params: object): void { ahead(op, params).catch(() => {}); }

function send<T>(op: string, params: object | undefined, trace: Trace, signal?: AbortSignal): Promise<T> {
  return before ? before.then(() => sendNow<T>(op, params, trace, signal)) : sendNow<T>(op, params, trace, signal);
}

function sendNow<T>(op: string, params: object | undefined, trace: Trace, signal?: AbortSignal): Promise<T> {
  const answer = host.call<T>(op, stringify(params ?? {}), trace);
  if (signal) {
    const abort = () => host.abort(answer, abortedText + reasonOf(signal));
    const over = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) // while earlier ones were waited for
      abort();
    signal.addEventListener('abort', abort);
    answer.then(over, over);
  }
  return answer;
}

/** The host calls it with what came of an operation, and settles the call's promise with what it returns or throws. */
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

/** Options with which the script may end a call before its time. */
export interface Abortable { signal?: AbortSignal }

const abortedText = 'operation was aborted: ';

/** The error of a call that a signal may have ended, with the log of what was done until then. */
function abortedError(error: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted || !(error instanceof Error) || !error.message.includes(abortedText))
    return error;
  const reason = reasonOf(signal);
  const begin = '\nCall log:\n';
  const at = error.message.indexOf(begin);
  const log = at < 0 ? '' : error.message.slice(at + begin.length);
  return new AbortError(`${reason}${begin}${log}  - ${abortedText}${reason}\n`, signal.reason);
}

/** Why a signal was given, in words. */
export function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : String(reason);
}

/** What is told of the operations of the script's calls, for traces. */
export interface CallTracer {
  before(call: string, op: string, params: object, title: string, trace: Trace): void;
  only(call: string, name: string, title: string, start: number, error: unknown, trace: Trace): void;
  after(call: string, error?: unknown): void;
}

/** None while nothing is traced. */
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

/** A name for a call in a trace. */
export function nextTraced(): string { return `call@${++lastTraced}`; }

/** Sends an operation that traces tell of. */
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
 * One call of the API by the script: it is reported as a step when it ends, and
 * its errors say its name and where the script called. All public methods that
 * wait for something go through here. A signal among its options ends its
 * operations; what it waits for itself, wait has to end. label is what the call is
 * named if nobody awaits it, by default its name.
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
  const startedAt = now();
  const start = host.now();
  const silent = quiet;
  let sent = silent;
  const report = (error: string, thrown?: unknown) => {
    if (silent)
      return;
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

/** Sends operations, which a signal may end. */
function plain(trace: Trace, signal: AbortSignal | undefined): Send {
  return signal ? abortable(trace, signal) : (op, params, own) => send(op, params, trace, own);
}

/** Sends operations that traces tell of, and says when there was one. */
function tracing(trace: Trace, title: () => string, signal: AbortSignal | undefined, told: () => void): Send {
  const go = plain(trace, signal);
  return (op, params, own) => {
    if (!tracers || recording.test(op))
      return go(op, params, own);
    told();
    return sendTraced(go, op, params ?? {}, title(), trace, own);
  };
}

/** Sends operations that a signal ends. */
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
 * A step that is one operation: what step does with a body that sends op with
 * params and gives what take makes of its answer. The host does all but the
 * beginning and the end, which takes a fraction of the time.
 */
export function stepOf<T>(name: string, title: () => string, op: string, params: () => object, take: ((answer: any) => T) | undefined, options?: object): Promise<T> {
  if (!before && !tracers && !(options as Abortable | undefined)?.signal) {
    try {
      const trace = host.trace();
      return host.call<T>(op, stringify(params()), trace, { name, title: quiet ? undefined : title, take, trace });
    } catch {
      // Below it is thrown again, where the call has a promise to fail.
    }
  }
  return step(name, title, async send => {
    const answer = await send(op, params());
    return take ? take(answer) : answer as T;
  }, options);
}

/** Operations that traces do not tell of. */
const recording = /^(trace|har|files)\./;

let quiet = false;

/** Begins calls that are no steps of the script's, such as those that make fixtures. */
export function muted<T>(begin: () => T): T {
  quiet = true;
  try {
    return begin();
  } finally {
    quiet = false;
  }
}

/** An operation that is no step of the script's, such as disposing a handle. */
export function quietly<T>(op: string, params?: object): Promise<T> {
  return send<T>(op, params, host.trace());
}

/** Default timeout of everything that waits, in ms, as in Playwright. */
export const defaultTimeout = 30_000;

/** Timeouts as setDefaultTimeout and setDefaultNavigationTimeout set them. */
export class Timeouts {
  private general: number | undefined;
  private navigating: number | undefined;

  constructor(private readonly parent?: Timeouts) {}

  setGeneral(ms: number): void { this.general = ms; }
  setNavigation(ms: number): void { this.navigating = ms; }

  /** For an action with these options. */
  action(options?: { timeout?: number }): number {
    return options?.timeout ?? this.general ?? this.parent?.action() ?? defaultTimeout;
  }

  /** For a navigation with these options. */
  navigation(options?: { timeout?: number }): number {
    return options?.timeout ?? this.navigating ?? this.general ?? this.parent?.navigation() ?? defaultTimeout;
  }
}

/**
 * What a wait watches: it settles by one of these and returns how to stop
 * watching. abandon is reject for what ends the wait from outside: the log is
 * added to the error.
 */
export type Watch<T> = (resolve: (value: T) => void, reject: (error: Error) => void, abandon: (error: Error) => void) => () => void;

/** Waits for what watch resolves with, at most timeout ms (0: without end); event is the name of what it waits for, if it has one; a signal ends it. */
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

/** The fields of options that are named, without those that are absent. */
export function pick(options: object | undefined, names: readonly string[]): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const name of names) {
    const value = (options as Record<string, unknown> | undefined)?.[name];
    if (value !== undefined)
      out[name] = value;
  }
  return out;
}
