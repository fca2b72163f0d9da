// Trying again until something holds, with Playwright's schedule.

import { host } from './host.ts';

/** Pauses between attempts in ms; the last goes on. */
export const pollIntervals = [100, 250, 500, 1000];

/** How an attempt went. */
export interface Attempt<T> { done: boolean; value: T }

const late = Symbol('late');

/**
 * Runs attempt until it is done or timeout ms (0: no end) are over; an attempt that
 * hangs does not outlast them. Gives the last finished attempt.
 */
export async function poll<T>(attempt: () => Promise<Attempt<T>>, timeout: number, intervals: readonly number[] = pollIntervals): Promise<Attempt<T> | undefined> {
  const deadline = timeout ? host.now() + timeout : Infinity;
  let last: Attempt<T> | undefined;
  for (let i = 0; ; i++) {
    const result = await before(deadline, attempt());
    if (result === late)
      return last;
    last = result;
    if (last.done)
      return last;
    const pause = intervals[Math.min(i, intervals.length - 1)] ?? pollIntervals[pollIntervals.length - 1]!;
    if (host.now() + pause >= deadline)
      return last;
    await new Promise<void>(resolve => { host.setTimer(resolve, pause, false); });
  }
}

function before<T>(deadline: number, result: Promise<T>): Promise<T | typeof late> {
  if (deadline === Infinity)
    return result;
  return new Promise((resolve, reject) => {
    const timer = host.setTimer(() => resolve(late), deadline - host.now(), false);
    result.then(resolve, reject).finally(() => host.clearTimer(timer));
  });
}

/** What is said of a wait that took too long. */
export function overdue(timeout: number): string {
  return `Timeout ${timeout}ms exceeded while waiting on the predicate`;
}
