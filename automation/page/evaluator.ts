import { parse, serialize, type Tagged } from './serialize.ts';
import { special } from './special.ts';

/** A script's function that runs in the page. */
type Fn = (...args: unknown[]) => unknown;
/** The arguments of Go's call, like the arguments object. */
type Given = [Evaluator, Tagged | null, number, ...unknown[]];

const { requestAnimationFrame: raf, setTimeout: later } = globalThis;
const native = { requestAnimationFrame: (f: () => void) => { raf(f); }, setTimeout: (f: () => void, ms: number) => { later(f, ms); } };
const pageEval = globalThis.eval;
const SafePromise = Promise;

/**
 * Runs a script's functions in the world where Go has put it, and converts values in both directions. Go holds it by object id, so it leaves no
 * global variable behind.
 */
export class Evaluator {
  private readonly polls = new Map<number, () => void>();

  /**
   * Calls fn and returns its result for Go to hold. given are the arguments of Go's call: this evaluator, the argument, the number of values that fn
   * gets before the argument, these values, and the handles in the argument.
   */
  call(fn: Fn, given: Given): unknown {
    const [arg, before, handles] = this.unpack(given);
    return fn(...before, parse(arg, handles));
  }

  /** Calls fn and returns its result as data. */
  value(fn: Fn, given: Given): Tagged | Promise<Tagged> {
    return this.tag(this.call(fn, given));
  }

  /** Evaluates a script's source text in the global scope. */
  source(text: string): unknown { return pageEval(text); }

  /** Evaluates a script's source text, and returns the result as data. */
  sourceValue(text: string): Tagged | Promise<Tagged> { return this.tag(this.source(text)); }

  /** Tags a value, or the value that a promise resolves to. */
  tag(value: unknown): Tagged | Promise<Tagged> {
    if (isThenable(value))
      return SafePromise.resolve(value).then(toData);
    return toData(value);
  }

  private unpack(given: Given): [Tagged | undefined, unknown[], unknown[]] {
    const subjects = given[2];
    const before: unknown[] = [], handles: unknown[] = [];
    for (let i = 3; i < given.length; i++)
      (i - 3 < subjects ? before : handles).push(given[i]);
    return [given[1] ?? undefined, before, handles];
  }

  /** Calls fn, or evaluates text, until the result is truthy, and returns it. A promise is truthy, whatever it settles with. */
  poll(fn: Fn | string, given: Given, task: number, polling: number): Promise<unknown> {
    const [arg, before, handles] = this.unpack(given);
    const argument = parse(arg, handles);
    return new SafePromise((resolve, reject) => {
      let stopped = false;
      const done = () => { this.polls.delete(task); };
      this.polls.set(task, () => { stopped = true; done(); reject(new Error('aborted')); });
      const next = () => {
        if (stopped)
          return;
        try {
          const result = typeof fn === 'string' ? pageEval(fn) : fn(...before, argument);
          if (result) {
            done();
            resolve(result);
          } else if (polling) {
            trueTime().setTimeout(next, polling);
          } else {
            trueTime().requestAnimationFrame(next);
          }
        } catch (e) {
          done();
          reject(e);
        }
      };
      next();
    });
  }

  abort(task: number) { this.polls.get(task)?.(); }
}

function toData(value: unknown): Tagged {
  return serialize(value, special, { functions: 'undefined' });
}

// Returns functions that use the real time, even if the page has a fake clock.
function trueTime(): { requestAnimationFrame: (f: () => void) => void; setTimeout: (f: () => void, ms: number) => void } {
  const { __pwClock: clock } = globalThis as unknown as { __pwClock?: { builtins: typeof native } };
  return clock?.builtins ?? native;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
