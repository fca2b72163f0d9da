import type { Location } from './events.ts';
import type { Frame } from './frame.ts';
import { handles, type JSHandle } from './handle.ts';
import type { Page } from './page.ts';
import type { Worker } from './worker.ts';
import type { World } from './world.ts';

/** A console message, as the server reports it. */
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

/** Creates a console message, with its arguments as handles. */
export function consoleMessage(w: World, init: ConsoleInit): ConsoleMessage {
  const page = w.pages.get(init.page) ?? null;
  const worker = (init.worker && w.workers.get(init.worker)) || null;
  return new ConsoleMessage(init, init.args.map(a => handles.make(page?.mainFrame() as Frame, a)), page, worker);
}
