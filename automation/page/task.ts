import type { Injected } from './injected.ts';

/** The operation was cancelled from outside; nobody reads its result. */
export class Aborted extends Error { override name = 'Aborted'; }
/** The operation's time is over. */
export class Expired extends Error { override name = 'Expired'; }
/** The element is ready, but only after a wait: whoever asked may not change the page any more. */
export class Ready extends Error { override name = 'Ready'; }
/** An error that waiting longer does not mend, worded for the user as it is. */
export class Fatal extends Error { override name = 'Fatal'; }

/** A body's way to say: not yet, try again. */
export const again = Symbol('again');

/** Pauses between attempts to find an element, in milliseconds; Playwright's schedule. */
const findPauses = [20, 50, 100, 100, 500];
/** Pauses between attempts at an action on a found element; Playwright's schedule. */
const actionPauses = [0, 20, 100, 100, 500];
/** Least pause of a loop that has no schedule left, so that the page gets its turn. */
const leastPause = 10;

/**
 * One operation while it waits on the page's side: its deadline, its log, and
 * that it may be aborted.
 */
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

  /** timeout is in milliseconds from now, 0 for none; resumed is the attempt at which the task goes on that was Ready. */
  constructor(private readonly injected: Injected, private readonly timeout: number, private readonly resumed?: number) {
    this.deadline = timeout ? this.now() + timeout : Infinity;
  }

  private get builtins() { return this.injected.utils.builtins; }
  private now() { return this.builtins.performance.now(); }

  /** Ends the task at its next wait, or at once when it waits. */
  abort() { this.end(new Aborted()); }

  /** Gives the timer back. */
  dispose() {
    if (this.timer)
      this.builtins.clearTimeout(this.timer);
  }

  /** Throws when the task was aborted. */
  check() {
    if (this.failure)
      throw this.failure;
  }

  /** Waits for p, but no longer than the task lives. */
  async race<T>(p: Promise<T> | T): Promise<T> {
    this.check();
    const value = await Promise.race([p, this.end$()]);
    this.check();
    return value;
  }

  /** To be called right before the page is changed; throws Ready when that has to be asked for. */
  beforeChange() {
    if (this.waited)
      throw new Ready();
    this.passed();
  }

  // What leads to where the task goes on is in the log already.
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

  /** Runs body until it gives something else than again. */
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

  /** Runs an action until it gives something else than again, saying so in the log. */
  async act<T>(name: string, first: number, body: (attempt: number) => Promise<T | typeof again>, trial = false): Promise<T> {
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
