// What the script waits for, so that it can be told to wait no longer.

const waits = new Set<(reason: string) => void>();

/** Registers a wait; end makes it fail with a reason. Returns how to take it back. */
export function waiting(end: (reason: string) => void): () => void {
  waits.add(end);
  return () => { waits.delete(end); };
}

/** Makes all that is waited for fail, and says how much that was. */
export function interrupt(reason: string): number {
  const all = [...waits];
  waits.clear();
  for (const end of all)
    end(reason);
  return all.length;
}
