import type { Injected } from './injected.ts';

/** The operation was cancelled; nobody reads its result. */
export class Aborted extends Error { override name = 'Aborted'; }
/** The operation timed out. */
export class Expired extends Error { override name = 'Expired'; }
/** The element is ready, but only after a wait, so the caller must first permit the change of the page again. */
export class Ready extends Error { override name = 'Ready'; }
/** An error that waiting cannot cure, in words for the user. */
export class Fatal extends Error { override name = 'Fatal'; }

/** A body returns this to be called again. */
export const again = Symbol('again');

/** Pauses between attempts to find an element, in milliseconds, as in Playwright. */
const findPauses = [20, 50, 100, 100, 500];
/** Pauses between attempts at an action on a found element, in milliseconds, as in Playwright. */
const actionPauses = [0, 20, 100, 100, 500];
/** Minimum pause of a loop after the end of its schedule, so that the page can run. */
const leastPause = 10;

/** An operation that waits on the page side: its deadline, its log, and its cancellation. */
export class Task {
  readonly log: string[] = [];
  private readonly deadline: number;
  private fail?: (reason: Error) => void;
  private ended?: Promise<never>;
  private timer?: number;
  private failure?: Error;

  private waited = false;
  private past = false;
  attempt = 0;

  /** Starts a task. timeout is in milliseconds from now, 0 for none. resumed is the attempt at which a task that was Ready continues. */
  constructor(private readonly injected: Injected, private readonly timeout: number, private readonly resumed?: number) {
    this.deadline = timeout ? this.now() + timeout : Infinity;
  }

  private get builtins() { return this.injected.utils.builtins; }
  private now() { return this.builtins.performance.now(); }

  /** Ends the task at its next wait, or at once if it is waiting. */
  abort() { this.end(new Aborted()); }

  /** Clears the timer. */
  dispose() {
    if (this.timer)
      this.builtins.clearTimeout(this.timer);
  }

  /** Throws if the task was aborted or has expired. */
  check() {
    if (this.failure)
      throw this.failure;
  }

  /** Waits for p until the task ends. */
  async race<T>(p: Promise<T> | T): Promise<T> {
    this.check();
    const value = await Promise.race([p, this.end$()]);
    this.check();
    return value;
  }

  /** Throws Ready if a change of the page must be permitted first. Must be called right before such a change. */
  beforeChange() {
    if (this.waited)
      throw new Ready();
    this.passed();
  }

  // Marks the point up to which a resumed task repeats steps. Their lines are dropped, because the log already has them.
  private passed() {
    if (this.resumed !== undefined && !this.waited && !this.past)
      this.log.length = 0;
    this.past = true;
  }
  sleep(ms: number): Promise<void> {
    this.passed();
    this.waited = true;
    return this.race(new Promise<void>(done => { this.builtins.setTimeout(done, ms); }));
  }

  /** Calls body until it returns something other than again. */
  async poll<T>(body: () => T | typeof again | Promise<T | typeof again>): Promise<T> {
    const pauses = [0, ...findPauses.filter(p => !this.timeout || p <= this.timeout / 5)];
    for (let i = 0; ; i++) {
      if (i)
        await this.sleep(pauses[Math.min(i, pauses.length - 1)] || leastPause);
      this.check();
      const result = await body();
      if (result !== again)
        return result;
    }
  }

  /** Calls an action until it returns something other than again, and logs each try. */
  async tryAction<T>(name: string, first: number, body: (attempt: number) => Promise<T | typeof again>, trial = false): Promise<T> {
    const action = `${name} action${trial ? ' (trial run)' : ''}`;
    const from = this.resumed ?? first;
    for (let i = from; ; i++) {
      this.attempt = i;
      if (i && !(i === from && this.resumed !== undefined && !this.waited)) {
        this.log.push(`retrying ${action}`);
        const pause = actionPauses[Math.min(i - 1, actionPauses.length - 1)]!;
        if (pause)
          this.log.push(`  waiting ${pause}ms`);
        await this.sleep(pause);
      } else {
        this.log.push(`attempting ${action}`);
      }
      const result = await body(i);
      if (result !== again)
        return result;
    }
  }

  private end(reason: Error) {
    this.failure ??= reason;
    this.fail?.(this.failure);
  }

  private end$(): Promise<never> {
    if (!this.ended) {
      this.ended = new Promise<never>((_, reject) => { this.fail = reject; });
      this.ended.catch(() => {});
      if (this.deadline !== Infinity)
        this.timer = this.builtins.setTimeout(() => this.end(new Expired()), Math.max(0, this.deadline - this.now())) as unknown as number;
    }
    return this.ended;
  }
}
