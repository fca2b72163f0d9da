// Sets up fixtures when they are needed, and tears them down.

import { type Deadlines, Slot } from './deadline.ts';
import type { Location } from './location.ts';
import { parameterNames } from './parameters.ts';
import { everywhere, type Pool, type Registration, type Scope } from './pool.ts';

/** The third argument of a fixture function. */
export interface Infos { test: unknown; worker: unknown }

/** A fixture that was set up, or has failed. */
class Fixture {
  value: unknown;
  failed = false;
  /** Fixtures that depend on this one and must be torn down first. */
  readonly users = new Set<Fixture>();
  /** Lets the function continue after use(); undefined for plain values. */
  release: (() => void) | undefined;
  /** Settles when the function ends. */
  ended: Promise<unknown> | undefined;

  constructor(readonly registration: Registration) {}
}

/** The fixtures of a worker and of its running test. */
export class Fixtures {
  readonly #made = new Map<string, Fixture>();

  /** workerTimeout is in ms. It is for worker fixtures, which have their own time limit. */
  constructor(private readonly deadlines: Deadlines, private readonly workerTimeout: number) {}

  /** Sets up the automatic fixtures of a scope. */
  async makeAutomatic(pool: Pool, scope: Scope, infos: Infos): Promise<void> {
    for (const r of pool.automatic(scope))
      await this.#make(pool, r, infos);
  }

  /** Sets up the automatic test fixtures that hooks for all tests of a group also get. */
  async makeForHook(pool: Pool, infos: Infos): Promise<void> {
    for (const r of pool.automatic('test', [everywhere]))
      await this.#make(pool, r, infos);
  }

  /** Returns the fixtures that a function needs; undefined if one of them failed earlier. */
  async argumentsOf(pool: Pool, body: Function, location: Location | undefined, infos: Infos): Promise<Record<string, unknown> | undefined> {
    const values: Record<string, unknown> = {};
    for (const name of parameterNames(body, location)) {
      const fixture = await this.#make(pool, pool.get(name)!, infos);
      if (fixture.failed)
        return undefined;
      values[name] = fixture.value;
    }
    return values;
  }

  /** Tears down all fixtures of a scope, newest first. `failed` is called with each error. */
  async tearDown(scope: Scope, failed: (error: unknown) => void): Promise<void> {
    for (const fixture of [...this.#made.values()].reverse()) {
      if (fixture.registration.scope === scope)
        await this.#takeDown(fixture, failed);
    }
  }

  async #make(pool: Pool, r: Registration, infos: Infos): Promise<Fixture> {
    const known = this.#made.get(r.id);
    if (known)
      return known;
    const fixture = new Fixture(r);
    if (typeof r.value !== 'function') {
      fixture.value = r.value;
      this.#made.set(r.id, fixture);
      return fixture;
    }
    const values: Record<string, unknown> = {};
    for (const name of r.needs) {
      const need = await this.#make(pool, pool.need(r, name)!, infos);
      need.users.add(fixture);
      fixture.failed ||= need.failed;
      values[name] = need.value;
    }
    this.#made.set(r.id, fixture);
    if (fixture.failed)
      return fixture;
    try {
      await this.deadlines.run({ slot: this.#slotOf(r), message: ms => setupMessage(r, ms), location: hasOwnTime(r) ? r.location : undefined }, () => this.#begin(fixture, values, infos));
    } catch (e) {
      fixture.failed = true;
      throw e;
    }
    return fixture;
  }

  /** Calls the fixture's function, and returns when that calls use(). */
  #begin(fixture: Fixture, values: Record<string, unknown>, infos: Infos): Promise<void> {
    const { registration: r } = fixture;
    const used = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    let called = false;
    const use = (value: unknown): Promise<void> => {
      if (called)
        throw new Error('Cannot provide fixture value for the second time');
      called = true;
      fixture.value = value;
      used.resolve();
      return released.promise;
    };
    fixture.release = released.resolve;
    const f = r.value as (args: object, use: unknown, info: unknown) => unknown;
    fixture.ended = (async () => {
      await f(values, use, r.scope === 'worker' ? infos.worker : infos.test);
      if (!called)
        throw new Error(`use() was not called in fixture "${r.name}"`);
    })();
    fixture.ended.catch(used.reject);
    return used.promise;
  }

  async #takeDown(fixture: Fixture, failed: (error: unknown) => void): Promise<void> {
    const r = fixture.registration;
    if (this.#made.get(r.id) !== fixture)
      return;
    this.#made.delete(r.id);
    for (const user of [...fixture.users].reverse())
      await this.#takeDown(user, failed);
    if (!fixture.release || fixture.failed)
      return;
    try {
      await this.deadlines.run({ slot: this.#slotOf(r), message: ms => teardownMessage(r, ms), location: hasOwnTime(r) ? r.location : undefined }, () => {
        fixture.release!();
        return fixture.ended;
      });
    } catch (e) {
      failed(e);
    }
  }

  #slotOf(r: Registration): Slot | undefined {
    return hasOwnTime(r) ? new Slot(r.timeout ?? this.workerTimeout) : undefined;
  }
}

const hasOwnTime = (r: Registration): boolean => r.timeout !== undefined || r.scope === 'worker';
const titleOf = (r: Registration): string => r.title ?? r.name;

function setupMessage(r: Registration, ms: number): string {
  return hasOwnTime(r)
    ? `Fixture "${titleOf(r)}" timeout of ${ms}ms exceeded during setup.`
    : `Test timeout of ${ms}ms exceeded while setting up "${titleOf(r)}".`;
}

function teardownMessage(r: Registration, ms: number): string {
  return hasOwnTime(r)
    ? `Fixture "${titleOf(r)}" timeout of ${ms}ms exceeded during teardown.`
    : `Tearing down "${titleOf(r)}" exceeded the test timeout of ${ms}ms.`;
}
