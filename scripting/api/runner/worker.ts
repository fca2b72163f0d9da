// Runs tests one after the other, with their hooks and fixtures, like a worker process of Playwright.

import { host } from '../core/host.ts';
import { defaultTestTimeout } from './config.ts';
import { DeadlineError, Slot, type Timed } from './deadline.ts';
import { Fixtures, type Infos } from './fixtures.ts';
import { SkipError, staticAnnotations, TestInfo, type Mark } from './info.ts';
import type { Pool } from './pool.ts';
import { state } from './state.ts';
import type { Annotation, Hook, Suite, Test } from './suite.ts';
import { poolOf } from './testtype.ts';

const { deadlines } = state;

/** A worker. It lives until a test fails, or until the next test needs other worker fixtures. */
export class Worker {
  readonly #fixtures = new Fixtures(deadlines, defaultTestTimeout);
  /** The groups that were entered, with the marks of their modifiers and beforeAll hooks. */
  readonly #active = new Map<Suite, Annotation[]>();
  #infos: Infos = { test: undefined, worker: undefined };
  /** The group whose beforeAll hook failed. Its remaining tests are skipped. */
  broken: Suite | undefined;

  constructor(readonly index: number, readonly hash: string, private readonly file: string) {}

  /** Makes one attempt at a test. next is the following test in this worker, if there is one. */
  async run(test: Test, retry: number, next: Test | undefined): Promise<TestInfo> {
    const slot = new Slot(test.setting('timeout') ?? defaultTestTimeout);
    deadlines.phase = slot;
    const info = new TestInfo(test, this.file, retry, this.index, deadlines);
    this.#infos = { test: info, worker: { config: info.config, project: info.project, parallelIndex: 0, workerIndex: this.index } };
    for (const a of [...staticAnnotations(test), ...test.parent.lineage().flatMap(s => this.#active.get(s) ?? [])])
      this.#annotate(info, slot, a);
    const began = Date.now();
    state.info = info;
    if (info.expectedStatus === 'skipped')
      info.status = 'skipped';
    const pool = poolOf(test.lists, test.parent);
    const progress = { reached: false };
    if (info.status !== 'skipped') {
      await this.#attempt(info, async () => {
        await this.#prepare(test, pool, info, slot, progress);
        const args = await this.#fixtures.argumentsOf(pool, test.body, test.location, this.#infos);
        if (args)
          await deadlines.run({ message: exceeded() }, () => test.body(args, info));
      });
    }
    await this.#finish(test, pool, info, next, progress.reached);
    info.duration = Date.now() - began;
    state.info = undefined;
    return info;
  }

  /** Ends the worker after its last test. Errors of its fixtures belong to no test. */
  async stop(): Promise<unknown[]> {
    const errors: unknown[] = [];
    await this.#fixtures.tearDown('worker', e => errors.push(e));
    return errors;
  }

  /** Does everything that precedes the test's own function. */
  async #prepare(test: Test, pool: Pool, info: TestInfo, slot: Slot, progress: { reached: boolean }): Promise<void> {
    await this.#fixtures.makeAutomatic(pool, 'worker', this.#infos);
    const suites = test.parent.lineage();
    for (const suite of suites)
      await this.#enter(suite, pool, info, slot);
    progress.reached = true;
    for (const suite of suites)
      await this.#modify(suite, pool, info, slot, 'test');
    await this.#fixtures.makeAutomatic(pool, 'test', this.#infos);
    await this.#hooks(suites.flatMap(s => s.hooks.filter(h => h.type === 'beforeEach')), hook => this.#each(hook, pool, info));
  }

  /** Does everything that follows: hooks, and tearing down what the next test does not share. */
  async #finish(test: Test, pool: Pool, info: TestInfo, next: Test | undefined, reached: boolean): Promise<void> {
    deadlines.phase = new Slot(defaultTestTimeout);
    const inward = test.parent.lineage().reverse();
    if (reached) {
      const hooks = inward.flatMap(s => s.hooks.filter(h => h.type === 'afterEach'));
      await this.#attempt(info, () => this.#hooks(hooks, hook => this.#attempt(info, () => this.#each(hook, pool, info), SkipError)));
    }
    await this.#fixtures.tearDown('test', e => info._failed(e));
    await deadlines.settled();
    await turn();
    if (!info._asExpected)
      next = undefined; // the worker ends
    for (const suite of [...this.#active.keys()].reverse()) {
      if (!next?.parent.within(suite))
        await this.#leave(suite, pool, info);
    }
    if (!info._asExpected) {
      for (const suite of [...this.#active.keys()].reverse())
        await this.#leave(suite, pool, info);
      await this.#fixtures.tearDown('worker', e => info._failed(e));
    }
  }

  /** Runs the modifiers and beforeAll hooks of a group, before its first test in this worker. */
  async #enter(suite: Suite, pool: Pool, info: TestInfo, slot: Slot): Promise<void> {
    if (this.#active.has(suite))
      return;
    const marks: Annotation[] = [];
    this.#active.set(suite, marks);
    const before = info.annotations.length;
    try {
      await this.#modify(suite, pool, info, slot, 'worker');
      await this.#hooks(suite.hooks.filter(h => h.type === 'beforeAll'), hook => this.#all(hook, pool, info));
    } catch (e) {
      if (!(e instanceof SkipError))
        this.broken = suite;
      throw e;
    } finally {
      marks.push(...info.annotations.slice(before));
    }
  }

  /** Runs the afterAll hooks of a group, after its last test in this worker. */
  async #leave(suite: Suite, pool: Pool, info: TestInfo): Promise<void> {
    if (!this.#active.delete(suite))
      return;
    for (const hook of suite.hooks.filter(h => h.type === 'afterAll'))
      await this.#attempt(info, () => this.#all(hook, pool, info));
  }

  /** Calls the functions of a group that mark its tests. */
  async #modify(suite: Suite, pool: Pool, info: TestInfo, slot: Slot, scope: 'test' | 'worker'): Promise<void> {
    for (const m of suite.modifiers) {
      if (pool.isOfWorker(m.body) !== (scope === 'worker'))
        continue;
      const args = await this.#fixtures.argumentsOf(pool, m.body, m.location, this.#infos);
      const holds = args && await deadlines.run({ message: exceeded(`"${m.type}" modifier`), location: m.location }, () => m.body(args, info));
      if (!holds)
        continue;
      this.#annotate(info, slot, { type: m.type, ...m.description === undefined ? {} : { description: m.description }, location: m.location });
      if (m.type === 'skip' || m.type === 'fixme')
        throw new SkipError(m.description);
    }
  }

  #annotate(info: TestInfo, slot: Slot, annotation: Annotation): void {
    info._annotate(annotation);
    if (annotation.type as Mark === 'slow')
      slot.slow();
  }

  /** Runs hooks one after the other. All of them run even if one fails, and the first error counts; a skip or a timeout stops them. */
  async #hooks(hooks: readonly Hook[], run: (hook: Hook) => Promise<void>): Promise<void> {
    const failures: unknown[] = [];
    for (const hook of hooks) {
      try {
        await run(hook);
      } catch (e) {
        if (e instanceof SkipError || e instanceof DeadlineError)
          throw e;
        failures.push(e);
      }
    }
    if (failures.length)
      throw failures[0];
  }

  async #each(hook: Hook, pool: Pool, info: TestInfo): Promise<void> {
    const args = await this.#fixtures.argumentsOf(pool, hook.body, hook.location, this.#infos);
    if (args)
      await deadlines.run({ message: exceeded(`"${hook.type}" hook`), location: hook.location }, () => hook.body(args, info));
  }

  /** Runs a hook for all tests of a group, which has its own time limit and fixtures. */
  async #all(hook: Hook, pool: Pool, info: TestInfo): Promise<void> {
    const what: Timed = { slot: new Slot(defaultTestTimeout), message: ms => `"${hook.type}" hook timeout of ${ms}ms exceeded.`, location: hook.location };
    const { phase } = deadlines;
    deadlines.phase = what.slot!;
    state.hookOfAll = hook.type;
    try {
      await this.#fixtures.makeForHook(pool, this.#infos);
      const args = await this.#fixtures.argumentsOf(pool, hook.body, hook.location, this.#infos);
      if (args)
        await deadlines.run(what, () => hook.body(args, info));
    } finally {
      state.hookOfAll = undefined;
      await this.#fixtures.tearDown('test', e => info._failed(e));
      deadlines.phase = phase;
    }
  }

  /** Runs a part of a test. What it throws becomes an error of the test, except for errors that must be passed on. */
  async #attempt(info: TestInfo, part: () => Promise<unknown>, further?: typeof SkipError): Promise<void> {
    try {
      await part();
    } catch (e) {
      if (further && e instanceof further)
        throw e;
      info._failed(e);
    }
  }
}

/** Returns the function that writes the message for a test whose time is up. */
function exceeded(during?: string): (ms: number) => string {
  return ms => `Test timeout of ${ms}ms exceeded${during ? ` while running ${during}` : ''}.`;
}

/** Lets the event loop turn once, so that unhandled rejections of the test are noticed, and a long file does not count as an endless loop. */
function turn(): Promise<void> {
  return new Promise(resolve => { host.setTimer(resolve, 0, false); });
}
