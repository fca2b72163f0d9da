// What the script waits for, so that it can be told to wait no longer.

interface Wait { end: (reason: string) => void; over: Promise<void> }

const waits = new Set<Wait>();

/** Registers a wait; end makes it fail with a reason. Returns what is called when it is over. */
export function waiting(end: (reason: string) => void): () => void {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const wait: Wait = { end, over };
  waits.add(wait);
  return () => {
    waits.delete(wait);
    resolve();
  };
}

/** Makes all that is waited for fail. Gives how much that was, and what settles when it has failed. */
export function interrupt(reason: string): { count: number; over: Promise<unknown> } {
  const all = [...waits];
  for (const wait of all)
    wait.end(reason);
  return { count: all.length, over: Promise.all(all.map(w => w.over)) };
}
