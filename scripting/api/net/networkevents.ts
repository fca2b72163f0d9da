// Handles request events, and waits for them.

import { step, type Timeouts, wait } from '../core/call.ts';
import { listen } from '../core/emitter.ts';
import type { Request, RequestInit, Response } from './network.ts';
import type { Page } from '../objects/page.ts';
import { offerRoute } from './route.ts';
import { urlMatches } from './urls.ts';
import type { World } from '../objects/world.ts';

/** The server's events about the network (automation/pagerequest.go). */
export const networkHandlers: Record<string, (w: World, e: Record<string, any>) => void> = {
  'network.request': (w, e) => tell(w, 'request', e),
  'network.response': (w, e) => tell(w, 'response', e),
  'network.requestfinished': (w, e) => tell(w, 'requestfinished', e),
  'network.requestfailed': (w, e) => tell(w, 'requestfailed', e),
  'route': (w, e) => { void offerRoute(w.request(e['request'])); },
};

function tell(w: World, event: string, e: Record<string, any>): void {
  const request = w.request(e['request'] as RequestInit);
  const subject = event === 'response' ? request.existingResponse() : request;
  w.contexts.get(request._contextId)?.emit(event, subject);
  request._page?.emit(event, subject);
}

/** The condition of waitForRequest and waitForResponse. */
export type UrlOrPredicate<T> = string | RegExp | ((subject: T) => unknown);

/** Waits for a matching request. Throws a TimeoutError after timeout ms. */
export function waitForRequest(page: Page, match: UrlOrPredicate<Request>, options?: { timeout?: number; signal?: AbortSignal }): Promise<Request> {
  return waitFor(page, 'waitForRequest', 'request', match, r => r, page._timeouts, options);
}

/** Waits for a matching response. Throws a TimeoutError after timeout ms. */
export function waitForResponse(page: Page, match: UrlOrPredicate<Response>, options?: { timeout?: number; signal?: AbortSignal }): Promise<Response> {
  return waitFor(page, 'waitForResponse', 'response', match, r => r.request(), page._timeouts, options);
}

function waitFor<T extends Request | Response>(
  page: Page, method: string, event: 'request' | 'response', match: UrlOrPredicate<T>,
  requestOf: (subject: T) => Request, timeouts: Timeouts, options: { timeout?: number; signal?: AbortSignal } | undefined,
): Promise<T> {
  const wanted = typeof match === 'function' ? '' : typeof match === 'string' ? `"${shortened(match)}"` : String(match);
  const log = wanted ? [`waiting for ${event} ${wanted}`] : [];
  const base = page.context()._options.baseURL;
  const fits = typeof match === 'function' ? match : (subject: T) => urlMatches(requestOf(subject).url(), match, base);
  return step(`page.${method}`, () => `page.${method}(${wanted})`, () => wait<T>(timeouts.action(options), log, (resolve, reject, abandon) => {
    if (page.isClosed())
      abandon(page._closedError());
    const stops = [
      listen(page, event, async (subject: T) => {
        try {
          if (await fits(subject))
            resolve(subject);
        } catch (e) {
          reject(e as Error);
        }
      }),
      listen(page, 'close', () => abandon(page._closedError())),
      listen(page, 'crash', () => abandon(new Error('Page crashed'))),
    ];
    return () => stops.forEach(stop => stop());
  }, event, options), options);
}

/** Shortens a condition as Playwright does in its logs. */
function shortened(url: string): string {
  const most = 50;
  return url.length > most ? url.slice(0, most - 1) + '\u2026' : url;
}
