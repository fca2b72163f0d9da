import { parse, serialize, type Tagged } from './serialize.ts';

/** A page's function that a script wants to run. */
type Fn = (...args: unknown[]) => unknown;

const { requestAnimationFrame: raf, setTimeout: later } = globalThis;
const pageEval = globalThis.eval;
const SafePromise = Promise;

/**
 * Runs a script's functions in the world where Go has put it, and carries
 * values in and out. Go holds it by object id; it leaves no global behind.
 */
export class Evaluator {
  private readonly polls = new Map<number, () => void>();

  /** Calls fn and gives its result for Go to hold. handles end with the subject, if there is one. */
  call(fn: Fn, arg: Tagged | undefined, subject: unknown[], ...handles: unknown[]): unknown {
    return fn(...subject, parse(arg, handles));
  }

  /** Calls fn and gives its result as data. */
  value(fn: Fn, arg: Tagged | undefined, subject: unknown[], ...handles: unknown[]): Tagged | Promise<Tagged> {
    return this.tag(fn(...subject, parse(arg, handles)));
  }

  /** Tags a value, or what it resolves to. */
  tag(value: unknown): Tagged | Promise<Tagged> {
    if (isThenable(value))
      return SafePromise.resolve(value).then(toData);
    return toData(value);
  }

  /** Evaluates a script's source text, in the global scope. */
  source(text: string): unknown { return pageEval(text); }

  /** The same, as data. */
  sourceValue(text: string): Tagged | Promise<Tagged> { return this.tag(pageEval(text)); }

  /** Calls fn again and again until it gives something truthy, and gives that. */
  poll(task: number, polling: number | undefined, fn: Fn | string, arg: Tagged | undefined, ...handles: unknown[]): Promise<unknown> {
    const argument = parse(arg, handles);
    return new SafePromise((resolve, reject) => {
      let stopped = false;
      const done = () => { this.polls.delete(task); };
      this.polls.set(task, () => { stopped = true; done(); reject(new Error('aborted')); });
      const next = async () => {
        if (stopped)
          return;
        try {
          let result = typeof fn === 'string' ? pageEval(fn) : fn(argument);
          if (isThenable(result))
            result = await result;
          if (result) {
            done();
            resolve(result);
          } else if (polling === undefined) {
            raf(next);
          } else {
            later(next, polling);
          }
        } catch (e) {
          done();
          reject(e);
        }
      };
      void next();
    });
  }

  abort(task: number) { this.polls.get(task)?.(); }

  /** An object's own enumerable properties as pairs for Go to hold. */
  properties(object: object): Record<string, unknown> { return { ...object }; }

  /** One property. */
  property(object: Record<string, unknown>, name: string): unknown { return object[name]; }

  /** The elements among an array's items. */
  item(list: unknown[], i: number): unknown { return list[i]; }
}

function toData(value: unknown): Tagged {
  return serialize(value, special, { functions: 'undefined' });
}

// What only makes sense where it is: said by name, as Playwright says it.
function special(value: unknown): Tagged | undefined {
  if (typeof value !== 'object' || value === null)
    return undefined;
  if (typeof Window === 'function' && value instanceof Window)
    return { s: 'ref: <Window>' };
  if (typeof Document === 'function' && value instanceof Document)
    return { s: 'ref: <Document>' };
  if (typeof Node === 'function' && value instanceof Node)
    return { s: 'ref: <Node>' };
  return undefined;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
