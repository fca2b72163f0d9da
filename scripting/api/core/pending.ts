// Registers the waits of the script, so that they can be ended.

import { host } from './host.ts';

interface Wait {
  end: (reason: string) => void;
  /** Is called when the wait is over. */
  over?: () => void;
}

const waits = new Set<Wait>();

/** Registers a wait. `end` makes it fail with a reason. Returns the function to call when it is over. */
export function waiting(end: (reason: string) => void): () => void {
  const wait: Wait = { end };
  waits.add(wait);
  return () => {
    waits.delete(wait);
    wait.over?.();
  };
}

/** Makes all waits fail, operations included. Returns their number, and a promise that settles when they have ended. */
export function interrupt(reason: string): { count: number; over: Promise<unknown> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = 0;
  const over = () => {
    if (--left === 0)
      resolve();
  };
  const all = [...waits];
  left = all.length + host.abortAll(reason, over);
  const count = left;
  for (const wait of all) {
    wait.over = over;
    wait.end(reason);
  }
  if (!count)
    resolve();
  return { count, over: promise };
}
