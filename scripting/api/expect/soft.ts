// Collects errors of expect.soft: a script goes on after them and fails at its end.

/** Takes the errors of soft expectations. */
export interface SoftSink { add(error: Error): void }

/** Keeps errors until they are requested as one. */
export class SoftErrors implements SoftSink {
  #errors: Error[] = [];

  add(error: Error): void { this.#errors.push(error); }

  /** All errors as one, of which the last may have ended the script; undefined if there are none. */
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

// The stack without the message.
function framesOf(error: Error): string {
  const head = `${error.name}: ${error.message}`;
  const { stack = '' } = error;
  return stack.startsWith(head) ? stack.slice(head.length) : '';
}

let sink: SoftSink = new SoftErrors();

/** The current sink. */
export function softSink(): SoftSink { return sink; }

/** Sets the receiver of soft errors, such as the running test; returns the previous one. */
export function setSoftSink(next: SoftSink): SoftSink {
  const before = sink;
  sink = next;
  return before;
}
