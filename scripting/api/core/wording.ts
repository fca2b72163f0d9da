// Rewrites built-in errors (TypeError and so on) in V8's wording.

import { host } from './host.ts';

/** Returns an error's message. If goja made it, it is replaced by V8's wording, in the error as well. */
export function worded(e: Error): string {
  const { message } = e;
  if (typeof message !== 'string')
    return message === undefined ? '' : String(message);
  const better = host.reword(message, e.stack);
  if (better === message)
    return message;
  const stack = String(e.stack);
  const at = stack.indexOf(message);
  if (at >= 0)
    define(e, 'stack', stack.slice(0, at) + better + stack.slice(at + message.length));
  define(e, 'message', better);
  return better;
}

const { defineProperty } = Object;

function define(e: Error, name: string, value: string): void {
  try {
    defineProperty(e, name, { value, writable: true, configurable: true, enumerable: false });
  } catch {} // the error may be frozen
}

/** Rewrites the message of a thrown value if it is a built-in error, and returns the value. */
export function mended<T>(thrown: T): T {
  if (thrown instanceof Error && natives.has(thrown.constructor))
    worded(thrown);
  return thrown;
}

const natives = new Set<Function>([TypeError, ReferenceError, RangeError, SyntaxError, URIError]);

const { catch: original } = Promise.prototype;

/** Defines the global that catch clauses call, and makes functions passed to catch() see V8's wording, too. */
export function installWording(define: (values: Record<string, unknown>) => void): void {
  define({ [host.mending()]: mended });
  const value = { catch<T, U>(this: Promise<T>, f?: ((e: any) => U | PromiseLike<U>) | null): Promise<T | U> {
    return original.call(this, typeof f === 'function' ? (e: unknown) => f(mended(e)) : f) as Promise<T | U>;
  } }.catch;
  defineProperty(Promise.prototype, 'catch', { value, writable: true, configurable: true, enumerable: false });
}
