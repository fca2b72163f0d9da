import type { Emitter } from './emitter.ts';
import type { JSHandle } from './handle.ts';
import { hide } from './object.ts';
import type { Page } from './page.ts';
import type { Worker } from './worker.ts';

/** Where in a script something came from; line and column from 0. */
export interface Location { url: string; line: number; column: number }

/** A console message as the server tells of it. */
export interface ConsoleInit { page: string; worker?: string; type: string; text: string; location: Location; timestamp: number; args: { handle: string; preview: string; element: boolean }[] }

type ConsoleType = 'log' | 'debug' | 'info' | 'error' | 'warning' | 'dir' | 'dirxml' | 'table' | 'trace' | 'clear' | 'startGroup' | 'startGroupCollapsed' | 'endGroup' | 'assert' | 'profile' | 'profileEnd' | 'count' | 'time' | 'timeEnd';

/** A message on a page's console. */
export class ConsoleMessage {
  readonly #init: ConsoleInit;
  readonly #args: JSHandle[];
  readonly #page: Page | null;
  readonly #worker: Worker | null;

  constructor(init: ConsoleInit, args: JSHandle[], page: Page | null, worker: Worker | null) {
    this.#init = init;
    this.#args = args;
    this.#page = page;
    this.#worker = worker;
  }

  type(): ConsoleType { return this.#init.type as ConsoleType; }
  text(): string { return this.#init.text; }
  args(): JSHandle[] { return this.#args; }
  timestamp(): number { return this.#init.timestamp; }
  page(): Page | null { return this.#page; }
  worker(): Worker | null { return this.#worker; }
  location(): Location & { lineNumber: number; columnNumber: number } {
    const { url, line, column } = this.#init.location;
    return { url, line, column, lineNumber: line, columnNumber: column };
  }
}

/** An uncaught exception as the server tells of it. */
export interface PageErrorInit { page: string; name: string; message: string; stack: string; location: Location }

/** The exception itself, as an Error. */
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

/** Ends something that the script had begun. */
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

/** Tells listeners of a page and then those of its context; says whether there were any. */
export function tellBoth(page: Emitter & { context(): Emitter }, event: string, arg: unknown): boolean {
  const heard = page.emit(event, arg);
  return page.context().emit(event, arg) || heard;
}
