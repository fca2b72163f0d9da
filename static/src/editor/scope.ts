/** What a script has in scope besides the language, as declarations for the editor. */
export const SCOPE = `
import type { Browser, BrowserContext, Page } from './playwright';

declare global {
  type Buffer = Uint8Array;

  /** The session's page. */
  const page: Page;
  const context: BrowserContext;
  const browser: Browser;
  /** What was sent with the script. */
  const args: any;

  interface TakeoverResult {
    outcome: 'done';
    /** What the person wrote, if anything. */
    note?: string;
    durationMs: number;
    by: string;
    changes: { urlBefore: string; urlAfter: string; cookiesSet: string[]; titleAfter: string };
  }

  interface TakeoverOptions {
    /** In ms, until nobody is waited for any more. */
    timeout?: number;
    /** Done by itself when this selector or address is there, or this function says so. */
    until?: string | RegExp | (() => boolean | Promise<boolean>);
    /** More for the person to read. */
    note?: string;
  }

  /**
   * Hands the browser to a person and waits until they are done. The script's
   * clock stops meanwhile. Rejects with TakeoverFailedError,
   * TakeoverTimeoutError or TakeoverCancelledError.
   */
  function requestTakeover(reason: string, options?: TakeoverOptions): Promise<TakeoverResult>;

  /** The person could not do it, and said why. */
  class TakeoverFailedError extends Error { reason: string }
  /** Nobody was done in time. */
  class TakeoverTimeoutError extends Error {}
  /** The request was withdrawn. */
  class TakeoverCancelledError extends Error {}

  /** Playwright's expect. */
  const expect: ((actual: unknown, message?: string) => any) & { poll: any; soft: any; [matcher: string]: any };
}
`;
