// Removes elements from a page that block a script's actions.

import { quietly, step } from '../core/call.ts';
import type { Locator } from './locator.ts';
import type { Page } from './page.ts';

interface Handler { page: Page; locator: Locator; handler: (locator: Locator) => unknown; left: number | undefined }

const handlers = new Map<string, Handler>();

/** Calls the handler whenever the locator is visible before an action or an expectation. */
export function addLocatorHandler(page: Page, locator: Locator, handler: (locator: Locator) => unknown, options: { noWaitAfter?: boolean; times?: number } = {}): Promise<void> {
  return step('page.addLocatorHandler', () => `page.addLocatorHandler(${locator})`, async send => {
    if (locator._frame !== page.mainFrame())
      throw new Error('Locator must belong to the main frame of this page');
    if (options.times === 0)
      return;
    const { handler: id } = await send<{ handler: string }>('page.addLocatorHandler', {
      page: page._guid, frame: locator._frame._guid, selector: locator._selector, noWaitAfter: options.noWaitAfter,
    });
    handlers.set(id, { page, locator, handler, left: options.times });
  });
}

/** Removes all handlers of a locator. */
export function removeLocatorHandler(page: Page, locator: Locator): Promise<void> {
  return step('page.removeLocatorHandler', () => `page.removeLocatorHandler(${locator})`, async send => {
    for (const [id, h] of handlers) {
      if (h.page !== page || h.locator._frame !== locator._frame || h.locator._selector !== locator._selector)
        continue;
      handlers.delete(id);
      await send('page.locatorHandled', { handler: id, remove: true });
    }
  });
}

/** Calls the handler of an overlay that blocks an action. If the handler throws, the run ends with an unhandled error. */
export async function overlayFound(id: string): Promise<void> {
  const h = handlers.get(id);
  try {
    if (h && h.left !== 0) {
      if (h.left !== undefined)
        h.left--;
      await h.handler(h.locator);
    }
  } finally {
    const remove = !h || h.left === 0;
    if (remove)
      handlers.delete(id);
    quietly('page.locatorHandled', { handler: id, remove }).catch(() => {}); // the action was abandoned
  }
}
