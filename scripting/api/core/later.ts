import { host } from './host.ts';

/** A bundle of the folder extras that is loaded when it is first asked for. */
export class Later<T extends object> {
  /** What the bundle exports, once it is loaded. */
  loaded: T | undefined;

  constructor(private readonly bundle: string) {}

  /** What the bundle exports. */
  get(): T { return this.loaded ??= host.extras(this.bundle) as T; }
}

/** Playwright's expect with its matchers. */
export const expecting = new Later<typeof import('../extras/expect.ts')>('expect');

/** What runs test files. */
export const runner = new Later<typeof import('../extras/runner.ts')>('runner');
