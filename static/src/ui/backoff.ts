/** First wait before connecting again, and the longest, in ms. */
const FIRST = 250;
const LONGEST = 8_000;

/** Returns the wait (ms) before attempt n, counted from 0: it doubles each time. */
export function backoff(attempt: number): number {
  return Math.min(LONGEST, FIRST * 2 ** Math.min(attempt, 16));
}
