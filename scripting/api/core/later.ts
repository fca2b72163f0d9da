import { host } from './host.ts';

/** A bundle in the folder extras that is loaded when it is first used. */
export class Later<T extends object> {
  /** The bundle's exports, once it is loaded. */
  loaded: T | undefined;

  constructor(private readonly bundle: string) {}

  /** Returns the bundle's exports. */
  get(): T { return this.loaded ??= host.extras(this.bundle) as T; }
}

/** Playwright's expect with its matchers. */
export const expecting = new Later<typeof import('../extras/expect.ts')>('expect');

/** Carries out commands of a program. */
export const commands = new Later<typeof import('../extras/commands.ts')>('commands');

/** Runs test files. */
export const runner = new Later<typeof import('../extras/runner.ts')>('runner');
