// The fixtures of a test, and their dependencies.

import { errorAt, show, type Location } from './location.ts';
import { parameterNames } from './parameters.ts';

/** The definitions of one test.extend or test.use. */
export interface FixtureList { fixtures: Record<string, unknown>; location: Location | undefined; use?: boolean }

/** How long a fixture is kept: for one test, or for all tests of a worker. */
export type Scope = 'test' | 'worker';

const scopes: readonly Scope[] = ['test', 'worker'];

/** The value of auto for a fixture that is set up automatically, also for the hooks of a group. */
export const everywhere = 'all-hooks-included';
type Auto = boolean | typeof everywhere;

interface Details { scope?: Scope; auto?: Auto; option?: boolean; timeout?: number; title?: string; box?: boolean | 'self' }

/** A fixture as seen from one place in the file. */
export interface Registration extends Details {
  /** Equal for the same fixture in different places. */
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly location: Location | undefined;
  /** A function that returns the value through use(), or the value itself. */
  readonly value: unknown;
  readonly needs: readonly string[];
  /** The fixture that it overrides. */
  readonly base: Registration | undefined;
}

const listIds = new WeakMap<FixtureList, number>();
let lastId = 0;

function idOf(list: FixtureList): number {
  const id = listIds.get(list) ?? ++lastId;
  listIds.set(list, id);
  return id;
}

/** The fixtures that a test, hook or other fixture can use. */
export class Pool {
  readonly #registrations: Map<string, Registration>;

  constructor(lists: readonly FixtureList[], parent?: Pool, inGroup = false) {
    this.#registrations = new Map(parent ? parent.#registrations : undefined);
    for (const list of lists) {
      for (const [name, entry] of Object.entries(list.fixtures))
        this.#add(list, name, entry, inGroup);
    }
    for (const r of this.#registrations.values())
      this.#check(r, []);
  }

  get(name: string): Registration | undefined { return this.#registrations.get(name); }

  /** Returns the fixture that another one needs. A fixture that needs its own name means the one that it overrides. */
  need(of: Registration, name: string): Registration | undefined {
    return name === of.name ? of.base : this.#registrations.get(name);
  }

  /** Returns the automatic fixtures of a scope. */
  automatic(scope: Scope, auto: readonly Auto[] = [true, everywhere]): Registration[] {
    return [...this.#registrations.values()].filter(r => r.auto && auto.includes(r.auto) && r.scope === scope);
  }

  /** Returns a text that is equal for tests that can share a worker. */
  hash(): string { return [...this.#registrations.values()].filter(r => r.scope === 'worker').map(r => r.id).join(' '); }

  /** Throws when a function uses an unknown fixture. */
  validate(body: Function, what: string, location: Location | undefined): void {
    for (const name of parameterNames(body, location)) {
      if (!this.#registrations.has(name))
        throw errorAt(`${what} has unknown parameter "${name}".`, location);
    }
  }

  /** Returns whether a function can run without a test. */
  isOfWorker(body: Function): boolean {
    return parameterNames(body, undefined).every(name => this.#registrations.get(name)?.scope === 'worker');
  }

  #add(list: FixtureList, name: string, entry: unknown, inGroup: boolean): void {
    let [value, details] = taken(entry);
    const base = this.#registrations.get(name);
    const { location } = list;
    if (base) {
      const taken = (what: string) => errorAt(`Fixture "${name}" has already been registered as a { ${what} } fixture defined in ${show(base.location)}.`, location);
      if (details?.scope !== undefined && details.scope !== base.scope)
        throw taken(`scope: '${base.scope}'`);
      if (details?.auto !== undefined && !!details.auto !== !!base.auto)
        throw taken(`auto: '${base.auto ? base.scope : false}'`);
      details = { ...base, ...details };
    }
    const scope = details?.scope ?? 'test';
    if (!scopes.includes(scope))
      throw errorAt(`Fixture "${name}" has unknown { scope: '${scope}' }.`, location);
    if (scope === 'worker' && inGroup)
      throw errorAt(`Cannot use({ ${name} }) in a describe group, because it forces a new worker.\nMake it top-level in the test file or put in the configuration file.`, location);
    // A value of undefined resets an option to its first value.
    if (list.use && value === undefined && base?.option) {
      let first = base;
      while (first.base?.option)
        first = first.base;
      value = first.value;
    }
    this.#registrations.set(name, {
      name, scope, location, value, base,
      id: `${idOf(list)}:${name}(${base?.id ?? ''})`,
      auto: details?.auto, option: details?.option, timeout: details?.timeout, title: details?.title, box: details?.box,
      needs: typeof value === 'function' ? parameterNames(value, location) : [],
    });
  }

  #check(r: Registration, path: readonly Registration[]): void {
    const seen = path.indexOf(r);
    if (seen >= 0) {
      const cycle = [...path.slice(seen), r];
      throw errorAt(`Fixtures ${cycle.map(c => `"${c.name}"`).join(' -> ')} form a dependency cycle: ${cycle.map(c => show(c.location)).join(' -> ')}`, r.location);
    }
    for (const name of r.needs) {
      const need = this.need(r, name);
      if (!need && name === r.name)
        throw errorAt(`Fixture "${name}" references itself, but does not have a base implementation.`, r.location);
      if (!need)
        throw errorAt(`Fixture "${r.name}" has unknown parameter "${name}".`, r.location);
      if (r.scope === 'worker' && need.scope === 'test')
        throw errorAt(`worker fixture "${r.name}" cannot depend on a test fixture "${name}" defined in ${show(need.location)}.`, r.location);
      this.#check(need, [...path, r]);
    }
  }
}

// Splits an entry into value and details. A fixture is a value, a function, or a pair of one of these and an object of details. As in Playwright, an
// array whose second item is an object counts as such a pair.
function taken(entry: unknown): [unknown, Details | undefined] {
  if (!Array.isArray(entry) || typeof entry[1] !== 'object' || entry[1] === null)
    return [entry, undefined];
  return [entry[0], entry[1] as Details];
}
