import { parse, serialize, type Tagged } from './serialize.ts';
import { special } from './special.ts';

const { stringify } = JSON;
const SafePromise = Promise;
const SafeMap = Map;
const define = Object.defineProperty;

/** How a call of a script's function ends. */
interface Pending { resolve: (value: unknown) => void; reject: (reason: unknown) => void }

/**
 * The page's side of a script's functions. Each document has one for each
 * client, under a symbol that is registered under a name nobody guesses.
 */
class Controller {
  #raw: (payload: string) => void;
  #last = 0;
  #pending = new SafeMap<number, Pending>();
  #names = new SafeMap<string, { name: string; fn: unknown }>();

  constructor(raw: (payload: string) => void) { this.#raw = raw; }

  /** Carries nothing; there to be called. */
  ready(): void {}

  /** Gives the page a function under a name. */
  expose(id: string, name: string): void {
    if (this.#names.has(id))
      return;
    const fn = this.make(id);
    this.#names.set(id, { name, fn });
    (globalThis as Record<string, unknown>)[name] = fn;
  }

  /** Takes a function away, unless the page put something else in its place. */
  remove(id: string): void {
    const known = this.#names.get(id);
    this.#names.delete(id);
    if (known && (globalThis as Record<string, unknown>)[known.name] === known.fn)
      delete (globalThis as Record<string, unknown>)[known.name];
  }

  /** A function that calls the script's. */
  make(id: string): (...args: unknown[]) => Promise<unknown> {
    return (...args) => new SafePromise((resolve, reject) => {
      const seq = ++this.#last;
      const tagged = args.map(a => serialize(a, special, { functions: 'undefined' }));
      this.#pending.set(seq, { resolve, reject });
      this.#raw(stringify({ id, seq, args: tagged }));
    });
  }

  /** Calls a function with an argument that holds the functions of these ids. */
  run(fn: (arg: unknown) => unknown, arg: Tagged, ids: string[]): void { fn(parse(arg, ids.map(id => this.make(id)))); }

  /** Ends a call. */
  settle(seq: number, ok: boolean, value: Tagged, ...handles: unknown[]): void {
    const pending = this.#pending.get(seq);
    this.#pending.delete(seq);
    if (ok)
      pending?.resolve(parse(value, handles));
    else
      pending?.reject(parse(value, handles));
  }
}

/** The document's controller; the first to ask makes it, of the raw function that Chromium put there. */
export function controller(key: string, rawName: string): Controller {
  const global = globalThis as unknown as Record<string | symbol, unknown>;
  const symbol = Symbol.for(key);
  const raw = global[rawName] as (payload: string) => void;
  delete global[rawName];
  if (!global[symbol])
    define(globalThis, symbol, { value: new Controller(raw), enumerable: false });
  return global[symbol] as Controller;
}
