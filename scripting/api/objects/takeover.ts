import { quietly, step, type Send } from '../core/call.ts';
import { quote } from '../core/selectors.ts';
import type { Page } from './page.ts';
import type { World } from './world.ts';

/** What a person did, as the server saw it. */
export interface TakeoverResult {
  outcome: 'done';
  note?: string;
  durationMs: number;
  by: string;
  changes: {
    urlBefore: string; urlAfter: string; titleBefore: string; titleAfter: string;
    tabsOpened: string[]; tabsClosed: string[]; filesAdded: string[];
    cookiesSet: string[]; cookiesRemoved: string[]; storageSet: string[]; storageRemoved: string[];
  };
  /** With `steps`: what the person did, as a test file for Playwright. */
  script?: string;
}

/** The timeout of a takeover in ms, and what ends it without a person. */
export interface TakeoverOptions {
  timeout?: number;
  /** A URL glob or a selector, a pattern for a page's URL, or a function that is called repeatedly. */
  until?: string | RegExp | (() => boolean | Promise<boolean>);
  note?: string;
  /** While the takeover is open, the only hosts that pages reach. */
  hosts?: string[];
  /** Hosts that pages do not reach meanwhile. */
  deniedHosts?: string[];
  /** Keep what the person does as the steps of a script. What they type into secret fields is not kept. */
  steps?: boolean;
}

/** The pause between two calls to a function in `until`, in ms. */
const pollPeriod = 500;

let world: World | undefined;

/** Sets the world, in which patterns in `until` find page URLs. */
export function useWorld(w: World): void { world = w; }

let shown = (_: Page): void => {};

/** Sets the function that is called with the page that people see when a takeover has ended. */
export function onShown(tell: (page: Page) => void): void { shown = tell; }

/** Called when a takeover begins; its result is called when the takeover ends. */
let paused = (): (() => void) => () => {};

/** Sets the function that pauses clocks while a person has taken over. */
export function onTakeover(pause: () => () => void): void { paused = pause; }

/**
 * Asks for a person and waits for them. Rejects with TakeoverFailedError,
 * TakeoverTimeoutError or TakeoverCancelledError.
 */
export function requestTakeover(reason: string, options: TakeoverOptions = {}): Promise<TakeoverResult> {
  const { until } = options;
  return step('requestTakeover', () => `requestTakeover(${quote(reason)})`, async send => {
    if (typeof reason !== 'string' || !reason.trim())
      throw new Error('reason: expected a string that says what a person should do');
    if (until !== undefined && typeof until !== 'string' && typeof until !== 'function' && !(until instanceof RegExp))
      throw new Error(`until: expected a string, a regular expression or a function, got ${until === null ? 'null' : typeof until}`);
    let stop = () => {};
    let broken: { error: unknown } | undefined;
    const resume = paused();
    try {
      const request = send<TakeoverResult>('takeover.request', {
        reason,
        timeout: options.timeout,
        note: options.note,
        hosts: options.hosts,
        deniedHosts: options.deniedHosts,
        steps: options.steps,
        until: typeof until === 'string' ? until : undefined,
      });
      if (typeof until === 'function')
        stop = poll(until, send, error => { broken ??= { error }; });
      else if (until instanceof RegExp)
        stop = poll(() => anyUrl(until), send, () => {});
      const result = await request;
      if (broken)
        throw broken.error;
      return result;
    } finally {
      stop();
      resume();
      await showPage();
    }
  });
}

// Makes the page that the person left the script's page, before the script continues.
async function showPage(): Promise<void> {
  const active = await quietly<{ page?: string }>('activePage').catch(() => undefined); // the run is ending
  const page = active?.page && world?.pages.get(active.page);
  if (page)
    shown(page);
}

// Calls the script's function repeatedly. An error of the function also ends the takeover, because otherwise nobody would notice it.
function poll(until: () => boolean | Promise<boolean>, send: Send, fail: (error: unknown) => void): () => void {
  let over = false;
  let timer: unknown;
  const ask = async () => {
    let satisfied = true;
    try {
      satisfied = !!await until();
    } catch (e) {
      fail(e);
    }
    if (over)
      return;
    if (satisfied)
      send('takeover.satisfy').catch(() => {}); // it has just ended
    // Continue in any case, because the server may not have had the request yet.
    timer = setTimeout(ask, pollPeriod);
  };
  timer = setTimeout(ask, 0);
  return () => {
    over = true;
    clearTimeout(timer as number);
  };
}

function anyUrl(pattern: RegExp): boolean {
  return [...world?.pages.values() ?? []].some(page => {
    pattern.lastIndex = 0;
    return pattern.test(page.url());
  });
}
