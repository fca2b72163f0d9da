import { host, type Trace } from '../core/host.ts';
import { TimeoutError } from '../core/errors.ts';
import { quote } from '../core/selectors.ts';
import { attachment, SkipError, TestInfo } from './info.ts';
import { firstOf, type Location } from './location.ts';
import { state } from './state.ts';
import type { Annotation } from './suite.ts';

/** A running test.step. */
export interface Open { title: string }

/** Options of test.step(); timeout is in ms. */
export interface StepOptions { box?: boolean; location?: Location; timeout?: number; params?: object; subtitle?: string }

/** The argument of a step's body. */
export class TestStepInfo {
  readonly annotations: Annotation[] = [];
  readonly titlePath: string[];
  readonly #info: TestInfo;
  readonly #location: Location | undefined;

  constructor(info: TestInfo, title: string, location: Location | undefined) {
    this.#info = info;
    this.#location = location;
    this.titlePath = [...info.titlePath, ...state.steps.map(s => s.title), title];
  }

  async attach(name: string, options: Parameters<TestInfo['attach']>[1] = {}): Promise<void> {
    this.#info.attachments.push(attachment(name, options));
  }

  skip(...args: [condition?: unknown, description?: string]): void {
    if (args.length > 0 && !args[0])
      return;
    this.annotations.push({ type: 'skip', ...args[1] === undefined ? {} : { description: args[1] }, location: this.#location });
    throw new StepSkipError();
  }
}

/** Leaves a step's body. */
class StepSkipError extends Error {}

/** Implements test.step: a part of a test with a title in the report. */
export function runStep<T>(mode: 'pass' | 'skip', info: TestInfo, title: string, body: (step: TestStepInfo) => T | Promise<T>, options: StepOptions = {}): Promise<T | undefined> {
  const trace = host.trace();
  const promise = perform(mode, info, title, body, options, trace);
  host.watch(promise, `test.step(${quote(title)})`, trace);
  return promise;
}

async function perform<T>(mode: 'pass' | 'skip', info: TestInfo, title: string, body: (step: TestStepInfo) => T | Promise<T>, options: StepOptions, trace: Trace): Promise<T | undefined> {
  const called = host.frames(trace);
  const startedAt = host.clock();
  const start = host.now();
  const report = (error: string) => host.step(title, startedAt, host.now() - start, error, trace);
  if (mode === 'skip') {
    report('');
    return undefined;
  }
  const open: Open = { title };
  const step = new TestStepInfo(info, title, options.location ?? firstOf(called));
  state.steps.push(open);
  try {
    const value = await within(options.timeout, () => body(step));
    report('');
    return value;
  } catch (e) {
    if (e instanceof StepSkipError) {
      report('');
      return undefined;
    }
    if (!(e instanceof SkipError))
      report(e instanceof Error ? e.message : String(e));
    if (options.box && e instanceof Error)
      Object.defineProperty(e, 'stack', { value: `${e.name}: ${e.message}${called}`, writable: true, configurable: true, enumerable: false });
    throw e;
  } finally {
    state.steps.splice(state.steps.indexOf(open), 1);
  }
}

/** Limits a step's time, which also counts towards the test's limit. */
async function within<T>(timeout: number | undefined, body: () => T | Promise<T>): Promise<T> {
  if (!timeout)
    return body();
  const expired = Promise.withResolvers<never>();
  const timer = host.setTimer(() => expired.reject(new TimeoutError(`Step timeout of ${timeout}ms exceeded.`)), timeout, false);
  try {
    return await Promise.race([body(), expired.promise]);
  } finally {
    host.clearTimer(timer);
  }
}
