import { quietly, step, type Send } from '../core/call.ts';
import { quote } from '../core/selectors.ts';
import { inspect } from '../node/inspect.ts';
import { again, type Learned } from './learned.ts';
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
  /** With `learn`: why what the person did could not be kept. */
  notLearned?: string;
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
  /**
   * The name under which the server keeps what the person does. The next time, the steps are made again by themselves, and a person is asked only from
   * the one that fails.
   */
  learn?: string;
  /** With `learn`: what goes into secret fields, by the names that the learned script has for them. */
  secrets?: Record<string, string>;
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
  return step('requestTakeover', () => `requestTakeover(${typeof reason === 'string' ? quote(reason) : inspect(reason)})`, async send => {
    if (typeof reason !== 'string' || !reason.trim())
      throw new Error('reason: expected a string that says what a person should do');
    if (until !== undefined && typeof until !== 'string' && typeof until !== 'function' && !(until instanceof RegExp))
      throw new Error(`until: expected a string, a regular expression or a function, got ${until === null ? 'null' : typeof until}`);
    const { learn } = options;
    if (learn !== undefined && (typeof learn !== 'string' || !learn.trim()))
      throw new Error('learn: expected a name');
    let done: Learned | undefined;
    if (learn !== undefined) {
      const began = now();
      const page = await activePage();
      if (page && until !== undefined && await holds(until, send, 0))
        return itself('condition', began, await placeOf(page), await placeOf(page));
      // Without the store, a person is asked as if nothing was known.
      const known = await send<Learned | null>('learned', { name: learn }).catch(() => null);
      if (known && page) {
        const before = await placeOf(page);
        const made = await again(known, page, options.secrets ?? {});
        done = { ...known, steps: known.steps.slice(0, made.done) };
        if (made.error === undefined && (until === undefined || await holds(until, send, reachTime)))
          return itself('learned', began, before, await placeOf(await activePage() ?? page));
      }
    }
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
        learn,
        learned: done?.steps.length ? done : undefined,
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

/** The page that people see. */
async function activePage(): Promise<Page | undefined> {
  const { page } = await quietly<{ page?: string }>('activePage');
  return page === undefined ? undefined : world?.pages.get(page);
}

async function placeOf(page: Page): Promise<Place> {
  return { url: page.url(), title: await page.title().catch(() => '') };
}

/** The outcome of a request for which nobody was needed. */
function itself(by: string, began: number, before: Place, after: Place): TakeoverResult {
  return {
    outcome: 'done', by, durationMs: now() - began,
    changes: {
      urlBefore: before.url, urlAfter: after.url, titleBefore: before.title, titleAfter: after.title,
      tabsOpened: [], tabsClosed: [], filesAdded: [], cookiesSet: [], cookiesRemoved: [], storageSet: [], storageRemoved: [],
    },
  };
}

interface Place { url: string; title: string }

/** Returns whether what should end a takeover holds within a time (ms), as the server sees it. An error of the script's function is the script's. */
async function holds(until: NonNullable<TakeoverOptions['until']>, send: Send, timeout: number): Promise<boolean> {
  if (typeof until === 'string')
    return (await send<{ holds: boolean }>('until', { until, timeout: Math.max(timeout, lookTime) })).holds;
  for (const end = now() + timeout; ; await new Promise(resolve => setTimeout(resolve, pollPeriod))) {
    if (until instanceof RegExp ? anyUrl(until) : await until())
      return true;
    if (now() >= end)
      return false;
  }
}

/** How long (ms) one look at the page may take. */
const lookTime = 300;
/** How long (ms) it may take after the learned steps until their aim is reached. */
const reachTime = 5_000;
const { now } = Date;

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
