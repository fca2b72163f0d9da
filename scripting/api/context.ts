import type { Browser } from './browser.ts';
import { step, Timeouts } from './call.ts';
import { hide, ApiObject } from './object.ts';
import { type Page, waitForEvent } from './page.ts';
import { quote } from './selectors.ts';
import type { World } from './world.ts';

/** The options of newContext that are kept on the script's side. */
export interface ContextOptions { baseURL?: string }

/** Pages that share cookies and storage. */
export class BrowserContext extends ApiObject {
  /** @internal */
  _pages: Page[] = [];
  /** @internal */
  _options: ContextOptions = {};
  /** Made by the script, which may end it. @internal */
  _own = false;
  /** @internal */
  readonly _timeouts = new Timeouts();
  #world: World;
  #closed = false;

  constructor(world: World, id: string) {
    super(id);
    this.#world = world;
    hide(this, '_pages', '_options', '_own', '_timeouts');
  }

  browser(): Browser { return this.#world.browser; }
  pages(): Page[] { return [...this._pages]; }
  setDefaultTimeout(ms: number): void { this._timeouts.setGeneral(ms); }
  setDefaultNavigationTimeout(ms: number): void { this._timeouts.setNavigation(ms); }

  newPage(): Promise<Page> {
    return step('browserContext.newPage', () => 'context.newPage()', async send => {
      const { page } = await send<{ page: string }>('context.newPage', { context: this._guid });
      const made = this.#world.pages.get(page);
      if (!made)
        throw new Error('the new page is gone already');
      return made;
    });
  }

  /** Ends a context that the script made. The session's own stays: the session ends it. */
  close(_options?: { reason?: string }): Promise<void> {
    return step('browserContext.close', () => 'context.close()', async send => {
      if (this.#closed || !this._own)
        return;
      this.#closed = true;
      await send('context.close', { context: this._guid });
      this.#world.contexts.delete(this._guid);
      this.emit('close', this);
    });
  }

  waitForEvent(event: string, optionsOrPredicate?: ((arg: any) => unknown) | { predicate?: (arg: any) => unknown; timeout?: number }): Promise<any> {
    return step('browserContext.waitForEvent', () => `context.waitForEvent(${quote(event)})`, () =>
      waitForEvent(this, event, optionsOrPredicate, this._timeouts, 'context'));
  }

  /** @internal */
  override _listening(event: string | undefined): void {
    if (event === undefined || event === 'dialog')
      this._pages.forEach(p => p._listening('dialog'));
  }
}
