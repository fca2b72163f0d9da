import { parse, serialize, type Tagged } from './serialize.ts';
import { special } from './special.ts';

const { stringify } = JSON;
const SafePromise = Promise;
const SafeMap = Map;
const define = Object.defineProperty;

/** A page's call that waits for its result. */
interface Pending { resolve: (value: unknown) => void; reject: (reason: unknown) => void }

/** The page side of a script's functions. Each document has one per client, under a registered symbol whose name nobody can guess. */
class Controller {
  #raw: (payload: string) => void;
  #last = 0;
  #pending = new SafeMap<number, Pending>();
  #names = new SafeMap<string, { name: string; fn: unknown }>();

  constructor(raw: (payload: string) => void) { this.#raw = raw; }

  /** Does nothing. Callers await it to see that the controller exists. */
  ready(): void {}

  /** Gives the page a function with a name. */
  expose(id: string, name: string): void {
    if (this.#names.has(id))
      return;
    const fn = this.make(id);
    this.#names.set(id, { name, fn });
    (globalThis as Record<string, unknown>)[name] = fn;
  }

  /** Removes a function, unless the page has replaced it. */
  remove(id: string): void {
    const known = this.#names.get(id);
    this.#names.delete(id);
    if (known && (globalThis as Record<string, unknown>)[known.name] === known.fn)
      delete (globalThis as Record<string, unknown>)[known.name];
  }

  /** Returns a function that calls the script's function. */
  make(id: string): (...args: unknown[]) => Promise<unknown> {
    return (...args) => new SafePromise((resolve, reject) => {
      const seq = ++this.#last;
      const tagged = args.map(a => serialize(a, special, { functions: 'undefined' }));
      this.#pending.set(seq, { resolve, reject });
      this.#raw(stringify({ id, seq, args: tagged }));
    });
  }

  /** Calls a function with an argument that contains the functions with these ids. */
  run(fn: (arg: unknown) => unknown, arg: Tagged, ids: string[]): void { fn(parse(arg, ids.map(id => this.make(id)))); }

  /** Settles a call. */
  settle(seq: number, ok: boolean, value: Tagged, ...handles: unknown[]): void {
    const pending = this.#pending.get(seq);
    this.#pending.delete(seq);
    if (ok)
      pending?.resolve(parse(value, handles));
    else
      pending?.reject(parse(value, handles));
  }
}

/** Returns the document's controller. The first caller creates it from the raw function that Chromium added. */
export function controller(key: string, rawName: string): Controller {
  const global = globalThis as unknown as Record<string | symbol, unknown>;
  const symbol = Symbol.for(key);
  const raw = global[rawName] as (payload: string) => void;
  delete global[rawName];
  if (!global[symbol])
    define(globalThis, symbol, { value: new Controller(raw), enumerable: false });
  return global[symbol] as Controller;
}
