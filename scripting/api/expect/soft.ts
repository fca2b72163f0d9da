// Collects errors of expect.soft. A script continues after them and fails at its end.

/** Receives the errors of soft expectations. */
export interface SoftSink { add(error: Error): void }

/** Keeps errors until they are requested as one. */
export class SoftErrors implements SoftSink {
  #errors: Error[] = [];

  add(error: Error): void { this.#errors.push(error); }

  /** Returns all errors as one; undefined if there are none. `last` is the error that ended the script, if any. */
  summary(last?: Error): Error | undefined {
    const all = last ? [...this.#errors, last] : this.#errors;
    const [first] = all;
    if (!first || all.length === 1)
      return first;
    const sum = new Error(`${all.length} errors:\n\n${all.map((e, i) => `${i + 1}) ${e.message.trimEnd()}${framesOf(e)}`).join('\n\n')}`);
    sum.name = first.name;
    sum.stack = `${sum.name}: ${sum.message}${framesOf(first)}`;
    return sum;
  }
}

// Returns the stack without the message.
function framesOf(error: Error): string {
  const head = `${error.name}: ${error.message}`;
  const { stack = '' } = error;
  return stack.startsWith(head) ? stack.slice(head.length) : '';
}

let sink: SoftSink = new SoftErrors();

/** Returns the current receiver. */
export function softSink(): SoftSink { return sink; }

/** Sets the receiver of soft errors, such as the running test. Returns the previous one. */
export function setSoftSink(next: SoftSink): SoftSink {
  const before = sink;
  sink = next;
  return before;
}
