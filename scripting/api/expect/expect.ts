// Playwright's expect.

import { asymmetric, customAsymmetric, inverted } from './asymmetric.ts';
import { step } from '../core/call.ts';
import { equals } from './equality.ts';
import { dress, refuse } from '../core/errors.ts';
import { host, type Trace } from '../core/host.ts';
import type { Matcher, MatcherResult, MatcherState } from './matcher.ts';
import { matchers } from './matchers.ts';
import { pageMatchers } from './pagematchers.ts';
import { poll, type Attempt } from './poll.ts';
import { hint, matcherUtils, stringify, withType } from './print.ts';
import { responseMatchers } from './responsematchers.ts';
import { softSink } from './soft.ts';

/** Default timeout of expect in ms, as in Playwright. */
const expectTimeout = 5_000;

/** The configuration of an expect. */
interface Config {
  message?: string;
  timeout?: number;
  soft?: boolean;
  /** The matchers of this expect, from expect.extend. */
  custom: Readonly<Record<string, Matcher>>;
}

/** The subject of an expectation. */
interface Subject {
  value: unknown;
  config: Config;
  isNot: boolean;
  promise: '' | 'resolves' | 'rejects';
  poll?: { timeout: number; intervals?: number[] };
}

/** An expectation that was not met. */
class ExpectError extends Error {
  matcherResult: Omit<MatcherResult, 'message'> & { message: string };

  constructor(result: Omit<MatcherResult, 'message'> & { message: string }, message: string | undefined) {
    super(message ? `${message}\n\n${result.message}` : result.message);
    this.matcherResult = result;
  }
}

// The matchers of every expect.extend, by name.
const registry: Record<string, Matcher> = Object.create(null) as Record<string, Matcher>;
// Matchers that wait for their subject themselves, and so cannot be polled.
const waiting: Readonly<Record<string, unknown>> = { ...pageMatchers, ...responseMatchers, toPass: true };
const builtin = (name: string): boolean => Object.hasOwn(matchers, name) || Object.hasOwn(waiting, name);

const about = Symbol('subject');
interface Chain { [about]: Subject }

function labelOf({ poll: polled, isNot }: Subject): string {
  return `${polled ? 'expect.poll(...)' : 'expect(...)'}${isNot ? '.not' : ''}`;
}

// An unknown matcher is an error only when it is called.
const unknown = new Proxy(Object.prototype, {
  get(target, name, receiver: Chain) {
    if (typeof name === 'symbol' || name in target)
      return Reflect.get(target, name, receiver) as unknown;
    if (name === 'then' || name === 'toJSON' || !receiver[about])
      return undefined;
    return () => { throw new TypeError(`${labelOf(receiver[about])}.${name} is not a function`); };
  },
});

/** The results of expect() inherit the matchers from this object. */
const chain = Object.create(unknown, {
  not: { get(this: Chain) { return this[about].isNot ? undefined : chained({ ...this[about], isNot: true }); } },
  resolves: { get(this: Chain) { return promised(this[about], 'resolves'); } },
  rejects: { get(this: Chain) { return promised(this[about], 'rejects'); } },
}) as object;

function chained(subject: Subject): Chain {
  return Object.create(chain, { [about]: { value: subject } }) as Chain;
}

function promised(subject: Subject, promise: 'resolves' | 'rejects'): Chain {
  if (subject.poll)
    throw unsupported(promise);
  return chained({ ...subject, promise });
}

function unsupported(name: string): Error {
  return new Error(`\`expect.poll()\` does not support "${name}" matcher.`);
}

function know(name: string): void {
  Object.defineProperty(chain, name, {
    configurable: true, enumerable: true, writable: true,
    value(this: Chain, ...args: unknown[]) { return invoke(this[about], name, args); },
  });
}
[...Object.keys(matchers), ...Object.keys(waiting)].forEach(know);

const noFiles = 'sessions store nothing to compare with';
for (const [name, instead] of Object.entries({
  toHaveScreenshot: `${noFiles}; take page.screenshot() or locator.screenshot(), or use toMatchAriaSnapshot() with a string`,
  toMatchSnapshot: `${noFiles}; use toEqual() with the expected value`,
})) {
  Object.defineProperty(chain, name, { configurable: true, enumerable: true, writable: true, value: () => refuse(`expect().${name}`, instead) });
}

/** Calls a matcher: at once, or when its subject is available. */
function invoke(subject: Subject, name: string, args: unknown[]): unknown {
  const trace = host.trace();
  if (subject.config.soft)
    return softly(trace, () => run(subject, name, args, trace));
  return run(subject, name, args, trace);
}

function softly(trace: Trace, body: () => unknown): unknown {
  const keep = (e: unknown) => softSink().add(e instanceof Error ? e : dress(new Error(String(e)), '', trace) as Error);
  try {
    const value = body();
    return value instanceof Promise ? value.catch(keep) : value;
  } catch (e) {
    return keep(e);
  }
}

function run(subject: Subject, name: string, args: unknown[], trace: Trace): unknown {
  const custom = subject.config.custom[name] ?? (builtin(name) ? undefined : registry[name]);
  if (!custom && Object.hasOwn(waiting, name)) {
    if (subject.poll)
      throw unsupported(name);
    return wait(subject, name, args, trace);
  }
  const matcher = custom ?? matchers[name]!;
  if (subject.poll)
    return polled(subject, name, matcher, args, trace);
  if (subject.promise)
    return settled(subject, name, value => evaluate(subject, name, matcher, value, args, trace, !custom), trace);
  return evaluate(subject, name, matcher, subject.value, args, trace, !custom);
}

function evaluate(subject: Subject, name: string, matcher: Matcher, value: unknown, args: unknown[], trace: Trace, own: boolean): unknown {
  const result = attempt(subject, matcher, value, args, trace, own);
  return result instanceof Promise ? result.then(r => judge(subject, name, r, trace)) : judge(subject, name, result, trace);
}

// Calls a matcher. Errors of our own matchers get the position of the expect call; others keep theirs.
function attempt(subject: Subject, matcher: Matcher, value: unknown, args: unknown[], trace: Trace, own: boolean): MatcherResult | Promise<MatcherResult> {
  try {
    return matcher.call(stateOf(subject), value, ...args);
  } catch (e) {
    throw own ? dress(e, '', trace) : e;
  }
}

function stateOf({ config, isNot, promise }: Subject): MatcherState {
  return { customTesters: [], isNot, promise, utils: matcherUtils, timeout: config.timeout ?? expectTimeout, title: config.message ?? '', equals };
}

/** Throws if a matcher's result is not the expected one. */
function judge(subject: Subject, name: string, result: MatcherResult, trace: Trace): void {
  if (typeof result !== 'object' || result === null || typeof result.pass !== 'boolean' && result.pass === undefined) {
    throw dress(new Error(`Unexpected return from a matcher function.\nMatcher functions should return an object in the following format:\n`
      + `  {message?: string | function, pass: boolean}\n'${stringify(result)}' was returned`), '', trace);
  }
  if (!!result.pass !== subject.isNot)
    return;
  throw failed(subject, { ...result, name: result.name ?? name, message: messageOf(result) }, trace);
}

function messageOf({ message }: { message?: unknown }): string {
  return typeof message === 'function' ? String((message as () => unknown)()) : message === undefined ? 'No message was specified for this matcher.' : String(message);
}

function failed(subject: Subject, result: Omit<MatcherResult, 'message'> & { message: string }, trace: Trace): Error {
  return dress(new ExpectError(result, subject.config.message), '', trace) as Error;
}

/** Runs a matcher that waits for its subject itself. */
function wait(subject: Subject, name: string, args: unknown[], trace: Trace): unknown {
  if (name === 'toPass')
    return toPass(subject, args[0] as { timeout?: number; intervals?: number[] } | undefined, trace);
  const matcher = Object.hasOwn(pageMatchers, name) ? pageMatchers[name]! : responseMatchers[name]!;
  const check = (value: unknown) => {
    const { config, isNot } = subject;
    const announced = config.message ?? `Expect "${config.soft ? 'soft ' : ''}${isNot ? 'not ' : ''}${name}"`;
    return step('', () => `${announced}${isLocator(value) ? ` ${value}` : ''}`, async send =>
      judge(subject, name, await matcher.call({ ...stateOf(subject), send, announced }, value, ...args), trace), undefined, `expect(${isLocator(value) ? value : 'page'}).${isNot ? 'not.' : ''}${name}`);
  };
  return subject.promise ? settled(subject, name, check, trace) : check(subject.value);
}

function isLocator(value: unknown): boolean {
  return typeof value === 'object' && value !== null && value.constructor?.name === 'Locator';
}

/** Waits for the promise of resolves or rejects. */
async function settled(subject: Subject, name: string, check: (value: unknown) => unknown, trace: Trace): Promise<void> {
  const { value, promise, isNot } = subject;
  const head = () => hint(name, 'received', '', { promise, isNot });
  const pending: unknown = typeof value === 'function' ? (value as () => unknown)() : value;
  if (typeof (pending as PromiseLike<unknown> | undefined)?.then !== 'function') {
    const message = `${head()}\n\nMatcher error: received value must be a promise or a function returning a promise\n\n${withType('Received', pending)}`;
    throw failed(subject, { pass: false, name, message }, trace);
  }
  const outcome = await (pending as PromiseLike<unknown>).then(
    (v): Attempt<unknown> => ({ done: true, value: v }),
    (e: unknown): Attempt<unknown> => ({ done: false, value: e }));
  if (outcome.done === (promise === 'resolves'))
    return void await check(outcome.value);
  const [was, wanted, verb] = outcome.done ? ['resolved', 'rejected', 'Resolved'] : ['rejected', 'resolved', 'Rejected'];
  judge(subject, name, { pass: false, message: () => `${head()}\n\nReceived promise ${was} instead of ${wanted}\n${verb} to value: ${stringify(outcome.value)}` }, trace);
}

/** Requests the value again until the matcher passes. */
async function polled(subject: Subject, name: string, matcher: Matcher, args: unknown[], trace: Trace): Promise<void> {
  const { timeout, intervals } = subject.poll!;
  const value = subject.value as () => unknown;
  const { last, over } = await poll(async (): Promise<Attempt<() => string>> => {
    const received = await value();
    try {
      const result = await matcher.call(stateOf(subject), received, ...args);
      const { message } = subject.config;
      return { done: !!result.pass !== subject.isNot, value: () => `${message ? `${message}\n\n` : ''}${messageOf(result)}` };
    } catch (e) {
      return { done: false, value: () => (e as Error)?.message };
    }
  }, timeout, intervals);
  if (!last?.done)
    throw failed(subject, { pass: subject.isNot, name, message: `${last ? `${last.value()}\n\nCall Log:\n- ` : ''}${over}` }, trace);
}

/** Calls a function again until it no longer throws. */
async function toPass(subject: Subject, o: { timeout?: number; intervals?: number[] } = {}, trace: Trace): Promise<void> {
  const timeout = o.timeout ?? 0;
  const { last, over } = await poll(async (): Promise<Attempt<string | undefined>> => {
    try {
      if (typeof subject.value !== 'function')
        throw new Error('callback is not a function');
      await (subject.value as () => unknown)();
      return { done: !subject.isNot, value: undefined };
    } catch (e) {
      return { done: subject.isNot, value: (e as Error | undefined)?.message ?? '' };
    }
  }, timeout, o.intervals);
  if (last?.done)
    return;
  const said = last?.value === undefined ? '' : `${last.value}\n\nCall Log:\n- `;
  throw failed(subject, { pass: subject.isNot, name: 'toPass', message: said + over }, trace);
}

type MessageOption = string | { message?: string };
const messageIn = (o: MessageOption | undefined): string | undefined => (typeof o === 'object' && o !== null ? o.message : typeof o === 'string' ? o : undefined);

const configs = new WeakMap<object, Config>();

/** Creates an expect. */
function make(config: Config): any {
  const given = (o: MessageOption | undefined): Config => ({ ...config, message: messageIn(o) || config.message });
  const expect = (value: unknown, o?: MessageOption) => chained({ value, config: given(o), isNot: false, promise: '' });
  Object.assign(expect, asymmetric, {
    not: { ...inverted },
    poll(value: unknown, o?: MessageOption & { timeout?: number; intervals?: number[] }) {
      if (typeof value !== 'function')
        throw new Error('`expect.poll()` accepts only function as a first argument');
      const { timeout = config.timeout ?? expectTimeout, intervals } = typeof o === 'object' && o !== null ? o : {} as { timeout?: number; intervals?: number[] };
      return chained({ value, config: given(o), isNot: false, promise: '', poll: { timeout, intervals } });
    },
    extend(added: Record<string, Matcher>) {
      for (const [name, matcher] of Object.entries(added)) {
        registry[name] = matcher;
        if (!builtin(name))
          know(name);
      }
      return make({ ...config, custom: { ...config.custom, ...added } });
    },
    contract,
    configure(o: { message?: string; timeout?: number; soft?: boolean }) { return make({ ...config, ...o }); },
    getState: () => ({}),
  });
  Object.defineProperty(expect, 'soft', { enumerable: true, get: () => make({ ...config, soft: true }) });
  for (const [name, matcher] of Object.entries(config.custom))
    addAsymmetric(expect as unknown as Expecting, name, matcher);
  configs.set(expect, config);
  return expect;
}

/** The outcome of a contract. */
interface Assertion { verdict: 'pass' | 'fail' | 'inconclusive'; evidence: Record<string, unknown>; seq?: number }

/** Judges the page that people see by a contract. It does not throw if the verdict is not pass. */
function contract(c: object, o: { timeout?: number } = {}): Promise<Assertion> {
  return step('expect.contract', () => 'Expect a contract', send => send<Assertion>('assert', { contract: c, timeout: o.timeout ?? 0 }));
}

interface Expecting extends Record<string, unknown> { not: Record<string, unknown> }

// Adds a custom matcher as an asymmetric matcher, which can stand inside an expected value.
function addAsymmetric(expect: Expecting, name: string, matcher: Matcher): void {
  const make = (inverse: boolean) => (...args: unknown[]) => customAsymmetric(name, inverse, args, other => {
    const state = stateOf({ value: other, config: { custom: {} }, isNot: inverse, promise: '' });
    return (matcher.call(state, other, ...args) as MatcherResult).pass;
  });
  expect[name] = make(false);
  expect.not[name] = make(true);
}

/** Playwright's expect. */
export const expect = make({ custom: {} });

/** Returns an expect with the matchers of all given ones. */
export function mergeExpects(...expects: object[]): unknown {
  return make({ custom: Object.assign({}, ...expects.map(e => configs.get(e)?.custom)) as Record<string, Matcher> });
}
