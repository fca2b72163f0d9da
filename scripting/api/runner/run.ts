// Runs the tests of a file, and reports each when it has ended.

import { host } from '../core/host.ts';
import { explained } from '../core/hints.ts';
import { inspect } from '../node/inspect.ts';
import { mended } from '../core/wording.ts';
import { TestInfo } from './info.ts';
import { firstOf, show } from './location.ts';
import { state } from './state.ts';
import { Suite, type Test } from './suite.ts';
import { poolOf, validate } from './testtype.ts';
import { Worker } from './worker.ts';

/** An error in the form of host.fail. */
type Words = [name: string, message: string, stack: string];

/** The result of a test in the report. */
interface Result { status: 'passed' | 'failed' | 'skipped'; duration: number; errors: readonly unknown[] }

const skipped: Result = { status: 'skipped', duration: 0, errors: [] };

/** Tests that run as one unit: those of a serial group, or a single one. */
type Unit = readonly Test[];

/** Runs all tests of the file. Returns the first error that counts, or undefined. */
export async function runTests(file: string): Promise<Words | undefined> {
  state.loading = undefined;
  const all = state.root.tests();
  if (!all.length)
    throw new Error('No tests found.');
  validate(all);
  return new Run(file).all(focused(all));
}

/** Returns the tests to run: all, or those marked with only. */
function focused(all: Test[]): Test[] {
  const kept = new Set(onlyIn(state.root) ?? all);
  return all.filter(t => kept.has(t));
}

function onlyIn(suite: Suite): Test[] | undefined {
  const inner = suite.entries.flatMap(e => (e instanceof Suite ? onlyIn(e) ?? [] : e.only ? [e] : []));
  if (inner.length)
    return inner;
  return suite.only ? suite.tests() : undefined;
}

class Run {
  #worker: Worker | undefined;
  #workers = 0;
  /** Groups whose beforeAll hooks failed. Their remaining tests are skipped. */
  readonly #broken = new Set<Suite>();
  #first: Words | undefined;

  constructor(private readonly file: string) {}

  async all(tests: Test[]): Promise<Words | undefined> {
    for (const same of Map.groupBy(tests, t => poolOf(t.lists, t.parent).hash()).values()) {
      const left = [...same];
      while (left.length) {
        const group = left[0]!.serial();
        const unit = group ? left.filter(t => t.serial() === group) : [left[0]!];
        unit.forEach(t => left.splice(left.indexOf(t), 1));
        await this.#unit(unit, left);
      }
    }
    await this.#stop();
    return this.#first;
  }

  /** Runs a unit until it passes or has no retries left. */
  async #unit(unit: Unit, after: Test[]): Promise<void> {
    const retries = Math.max(...unit.map(t => t.setting('retries') ?? 0));
    for (let retry = 0; ; retry++) {
      const kept: [Test, Result][] = []; // these results do not count if the unit runs again
      let failed = false;
      for (const [i, test] of unit.entries()) {
        const result: Result = failed || this.#isBroken(test) ? skipped : await this.#attempt(test, retry, unit[i + 1] ?? after[0], retry === retries);
        failed ||= result.status === 'failed';
        if (retry === retries)
          this.#report(test, result);
        else
          kept.push([test, result]);
      }
      if (!failed || retry === retries)
        return kept.forEach(([test, result]) => this.#report(test, result));
    }
  }

  #isBroken(test: Test): boolean { return [...this.#broken].some(s => test.parent.within(s)); }

  async #attempt(test: Test, retry: number, next: Test | undefined, last: boolean): Promise<Result> {
    const hash = poolOf(test.lists, test.parent).hash();
    if (this.#worker?.hash !== hash)
      await this.#stop();
    const worker = this.#worker ??= new Worker(this.#workers++, hash, this.file);
    const result = resultOf(await worker.run(test, retry, next));
    if (result.status === 'failed')
      this.#worker = undefined;
    if (worker.broken && last)
      this.#broken.add(worker.broken);
    return result;
  }

  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const error of await worker?.stop() ?? [])
      this.#first ??= wordsOf(error);
  }

  #report(test: Test, result: Result): void {
    const words = result.errors.map(wordsOf);
    const [first] = words;
    if (first && test.location && !words.some(w => firstOf(w[2])))
      first[2] += `\n    at ${show(test.location)}`;
    this.#first ??= first;
    const whole: Words = [first?.[0] ?? '', words.map(w => w[1]).join('\n\n'), words.map(w => w[2]).join('\n\n')];
    host.test(test.titles().join(' › '), result.status, result.duration, ...whole);
  }
}

function resultOf(info: TestInfo): Result {
  if (info._asExpected)
    return { status: info.status === 'skipped' ? 'skipped' : 'passed', duration: info.duration, errors: [] };
  const errors = info._thrown.length ? info._thrown : [new Error(info.expectedStatus === 'failed' ? 'Expected to fail, but passed.' : `Expected to be ${info.expectedStatus}, but ${info.status}.`)];
  return { status: 'failed', duration: info.duration, errors };
}

function wordsOf(error: unknown): Words {
  if (error instanceof Error)
    return [String(error.name), explained(String(mended(error).message)), String(error.stack)];
  return ['Error', typeof error === 'string' ? `'${error}'` : inspect(error), ''];
}
