import type { Emitter } from '../core/emitter.ts';
import { hide } from './object.ts';
import type { Page } from './page.ts';

/** A position in a script; line and column start at 0. */
export interface Location { url: string; line: number; column: number }

/** An uncaught exception, as the server reports it. */
export interface PageErrorInit { page: string; name: string; message: string; stack: string; location: Location }

/** Converts the exception to an Error. */
export function pageError(init: PageErrorInit): Error {
  const error = new Error(init.message);
  error.name = init.name;
  Object.defineProperty(error, 'stack', { value: init.stack, writable: true, configurable: true, enumerable: false });
  return error;
}

/** An uncaught exception in one of a context's pages. */
export class WebError {
  readonly #page: Page | null;
  readonly #error: Error;
  readonly #location: Location;

  constructor(page: Page | null, error: Error, location: Location) {
    this.#page = page;
    this.#error = error;
    this.#location = location;
  }

  page(): Page | null { return this.#page; }
  error(): Error { return this.#error; }
  location(): Location { return { ...this.#location }; }
}

/** Ends something that the script has started. */
export class Disposable {
  /** @internal */
  readonly _end: () => Promise<void>;

  constructor(end: () => Promise<void>) {
    this._end = end;
    hide(this, '_end');
  }

  dispose(): Promise<void> { return this._end(); }
  [Symbol.asyncDispose](): Promise<void> { return this._end(); }
}

/** Calls the listeners of a page and then those of its context. Returns whether there were any. */
export function tellBoth(page: Emitter & { context(): Emitter }, event: string, arg: unknown): boolean {
  const heard = page.emit(event, arg);
  return page.context().emit(event, arg) || heard;
}
