// Where errors of expect.soft go: a script goes on after them, and fails at its
// end.

/** Takes the errors of soft expectations. */
export interface SoftSink { add(error: Error): void }

/** Keeps errors until someone asks for one error of them all. */
export class SoftErrors implements SoftSink {
  #errors: Error[] = [];

  add(error: Error): void { this.#errors.push(error); }

  /** All errors as one, the last of which may be the one that ended the script; undefined if there is none. */
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

// The stack without what it says before.
function framesOf(error: Error): string {
  const head = `${error.name}: ${error.message}`;
  const { stack = '' } = error;
  return stack.startsWith(head) ? stack.slice(head.length) : '';
}

let sink: SoftSink = new SoftErrors();

/** The sink of the moment. */
export function softSink(): SoftSink { return sink; }

/** Sets where soft errors go from now on, such as to the test that runs; gives the one before. */
export function setSoftSink(next: SoftSink): SoftSink {
  const before = sink;
  sink = next;
  return before;
}
