// Retries until a condition is met, with Playwright's schedule.

import { host } from '../core/host.ts';
import { waiting } from '../core/pending.ts';

/** Pauses between attempts in ms; the last one repeats. */
const pollIntervals = [100, 250, 500, 1000];

/** The result of an attempt. */
export interface Attempt<T> { done: boolean; value: T }

/** The result of all attempts: the last one that finished and, if it is not done, why there are no more. */
export interface Outcome<T> { last?: Attempt<T>; over: string }

/** Calls attempt until it is done, or timeout ms have passed (0: no limit). An attempt that hangs is abandoned at that time. */
export async function poll<T>(attempt: () => Promise<Attempt<T>>, timeout: number, intervals: readonly number[] = pollIntervals): Promise<Outcome<T>> {
  const outcome: Outcome<T> = { over: `Timeout ${timeout}ms exceeded while waiting on the predicate` };
  const deadline = timeout ? host.now() + timeout : Infinity;
  const late = Symbol('late');
  const end = Promise.withResolvers<typeof late>();
  const timers = new Set<number>();
  const after = (ms: number, f: () => void) => timers.add(host.setTimer(f, ms, false));
  if (timeout)
    after(timeout, () => end.resolve(late));
  const forget = waiting(reason => {
    outcome.over = reason.replace(/\.$/, '');
    end.resolve(late);
  });
  try {
    for (let i = 0; ; i++) {
      const result = await Promise.race([attempt(), end.promise]);
      if (result === late)
        return outcome;
      outcome.last = result;
      const pause = intervals[Math.min(i, intervals.length - 1)] ?? pollIntervals[pollIntervals.length - 1]!;
      if (result.done || host.now() + pause >= deadline)
        return outcome;
      if (await Promise.race([new Promise<void>(resolve => { after(pause, resolve); }), end.promise]) === late)
        return outcome;
    }
  } finally {
    forget();
    timers.forEach(t => host.clearTimer(t));
  }
}
