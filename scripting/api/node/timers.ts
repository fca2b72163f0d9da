import { host } from '../core/host.ts';

const { setTimer, clearTimer, holdTimer } = host;

/** The result of setTimeout, as in Node. */
export class Timeout {
  #id: number;
  #start: () => number;
  #held = true;

  constructor(start: () => number) {
    this.#start = start;
    this.#id = start();
  }

  ref(): this { return this.#hold(true); }
  /** Allows the script to end before the timer fires. */
  unref(): this { return this.#hold(false); }
  hasRef(): boolean { return this.#held; }
  close(): this {
    clearTimer(this.#id);
    return this;
  }
  refresh(): this {
    clearTimer(this.#id);
    this.#id = this.#start();
    return this.#hold(this.#held);
  }
  [Symbol.toPrimitive](): number { return this.#id; }
  [Symbol.dispose](): void { clearTimer(this.#id); }

  #hold(held: boolean): this {
    this.#held = held;
    holdTimer(this.#id, held);
    return this;
  }
}

type Callback = (...args: unknown[]) => void;

/** Normalizes a delay as Node does: at least a millisecond. */
function delayOf(ms: unknown): number {
  const n = Number(ms);
  return n >= 1 && n <= 2 ** 31 - 1 ? n : 1;
}

function timer(f: Callback, delay: number, args: unknown[], repeat: boolean): Timeout {
  if (typeof f !== 'function')
    throw new TypeError(`The "callback" argument must be of type function. Received ${f === null ? 'null' : typeof f}`);
  const call = args.length ? () => f(...args) : () => f();
  return new Timeout(() => setTimer(call, delay, repeat));
}

function clear(id: unknown): void {
  if (typeof id === 'object' && id !== null || typeof id === 'number' || typeof id === 'string')
    clearTimer(Number(id));
}

/** The global timer functions. */
export const timers = {
  setTimeout: (f: Callback, ms?: number, ...args: unknown[]) => timer(f, delayOf(ms), args, false),
  setInterval: (f: Callback, ms?: number, ...args: unknown[]) => timer(f, delayOf(ms), args, true),
  setImmediate: (f: Callback, ...args: unknown[]) => timer(f, 0, args, false),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
};
