/** The globals of a script, as declarations for the editor. */
export const SCOPE = `
import type { APIRequestContext, Browser, BrowserContext, Page } from 'playwright-core';
import type { Expect } from '@playwright/test';

declare module 'playwright-core' {
  interface Page {
    /**
     * Waits until the page has come to rest: its document is loaded, no request has been pending for 500 ms, and nothing in it has moved for a
     * second. Returns at once if the page is at rest. Playwright does not have this method.
     */
    waitForSettled(options?: {
      /** In ms; default 30 s, or the value of setDefaultNavigationTimeout. 0 for no limit. */
      timeout?: number;
    }): Promise<void>;
  }
}

declare global {
  interface Buffer extends Uint8Array {
    toString(encoding?: string, start?: number, end?: number): string;
  }
  const Buffer: {
    from(data: string | ArrayLike<number> | ArrayBuffer, encoding?: string): Buffer;
    alloc(size: number, fill?: number | string): Buffer;
    concat(list: Uint8Array[]): Buffer;
    byteLength(text: string, encoding?: string): number;
    isBuffer(value: unknown): boolean;
  };
  /** Returns one of Playwright's modules; no others exist. */
  function require(name: 'playwright' | 'playwright-core'): typeof import('playwright-core');
  function require(name: '@playwright/test'): typeof import('@playwright/test');

  /** The session's page. */
  const page: Page;
  const context: BrowserContext;
  const browser: Browser;
  /** Requests with the cookies of the session's browser. */
  const request: APIRequestContext;
  /** The arguments of the run. */
  const args: any;

  interface TakeoverResult {
    outcome: 'done';
    /** The person's note, if any. */
    note?: string;
    durationMs: number;
    by: string;
    changes: {
    urlBefore: string; urlAfter: string; titleBefore: string; titleAfter: string;
    tabsOpened: string[]; tabsClosed: string[]; filesAdded: string[];
    cookiesSet: string[]; cookiesRemoved: string[]; storageSet: string[]; storageRemoved: string[];
  };
  }

  interface TakeoverOptions {
    /** In ms, until the takeover expires. */
    timeout?: number;
    /** Ends the takeover automatically: a selector or address, or a function that returns true. */
    until?: string | RegExp | (() => boolean | Promise<boolean>);
    /** More text for the person. */
    note?: string;
  }

  /**
   * Gives the browser to a person and waits until they are done. The script's clock is stopped meanwhile. Rejects with TakeoverFailedError,
   * TakeoverTimeoutError or TakeoverCancelledError.
   */
  function requestTakeover(reason: string, options?: TakeoverOptions): Promise<TakeoverResult>;

  /** What a session's recording has, and its bundle. */
  interface Recording { recording: boolean; trajectoryBundle: { enabled: boolean; trajectory_id?: string; dir?: string }; report?: Record<string, unknown>; timeline?: Record<string, unknown>[] }
  /** Records what programs and people do in the session, until it is stopped or the session ends. */
  const recording: {
    start(options?: { trajectoryBundle?: boolean; screenshots?: 'none' | 'after' | 'both' }): Promise<Recording>;
    stop(): Promise<Recording>;
    status(): Promise<Recording>;
  };

  /** The person could not do it, and said why. */
  class TakeoverFailedError extends Error { reason: string }
  /** Nobody finished in time. */
  class TakeoverTimeoutError extends Error {}
  /** The request was cancelled. */
  class TakeoverCancelledError extends Error {}

  /** What a contract says must be true: an object with one key, such as { dom_text: { selector: 'h1', contains: 'Welcome' } }. */
  type Contract = { url: { equals: string } | { matches: string } } | { dom_text: { selector?: string; contains?: string; equals?: string; matches?: string } }
    | { dom_count: { selector: string; eq?: number; gte?: number; lte?: number } } | { network: { url: string; status_in: number[]; since?: number } }
    | { console: { level: 'log' | 'info' | 'warn' | 'error' | 'debug'; max: number } } | { no_dialog: {} }
    | { performance: { metric: 'ttfb' | 'fcp' | 'lcp' | 'cls' | 'domContentLoaded' | 'load'; lte: number } } | { and: Contract[] } | { or: Contract[] } | { not: Contract };

  /** Playwright's expect. Its method contract judges the page that people see, and does not throw. */
  const expect: Expect<{}> & {
    contract(contract: Contract, options?: { timeout?: number }): Promise<{ verdict: 'pass' | 'fail' | 'inconclusive'; evidence: Record<string, unknown>; seq?: number }>;
  };
}
`;
