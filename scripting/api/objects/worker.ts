import { step, Timeouts } from '../core/call.ts';
import type { BrowserContext } from './context.ts';
import { listen } from '../core/emitter.ts';
import type { Frame } from './frame.ts';
import { handles, type JSHandle } from './handle.ts';
import { ApiObject, hide } from './object.ts';
import type { Page } from './page.ts';
import { waitForEvent } from '../core/waiting.ts';
import { quote } from '../core/selectors.ts';
import { expression, onlyOne, result } from '../core/values.ts';

/** A worker as the server describes it. */
export interface WorkerInit { id: string; page?: string; context: string; url: string }

/** A web worker of a page, or a service worker of a context. */
export class Worker extends ApiObject {
  /** @internal */
  readonly _page: Page | undefined;
  /** @internal */
  readonly _context: BrowserContext;
  #url: string;
  #closed = false;
  #unhear: (() => void) | undefined;

  constructor(init: WorkerInit, page: Page | undefined, context: BrowserContext) {
    super(init.id);
    this._page = page;
    this._context = context;
    this.#url = init.url;
    hide(this, '_page', '_context');
  }

  url(): string { return this.#url; }

  evaluate(code: unknown, arg?: unknown): Promise<any> {
    return onlyOne(arguments, 2) ?? step('worker.evaluate', () => 'worker.evaluate()', async send => result(await send('worker.evaluate', { worker: this._guid, ...expression(code, arg) })));
  }
  evaluateHandle(code: unknown, arg?: unknown): Promise<JSHandle> {
    return onlyOne(arguments, 2) ?? step('worker.evaluateHandle', () => 'worker.evaluateHandle()', async send =>
      handles.make(undefined as unknown as Frame, await send('worker.evaluateHandle', { worker: this._guid, ...expression(code, arg) })));
  }
  waitForEvent(event: string, optionsOrPredicate?: ((arg: any) => unknown) | { predicate?: (arg: any) => unknown; timeout?: number; signal?: AbortSignal }): Promise<any> {
    const timeouts = (this._page ?? this._context)._timeouts ?? new Timeouts();
    return step('worker.waitForEvent', () => `worker.waitForEvent(${quote(event)})`, () => waitForEvent(this, event, optionsOrPredicate, timeouts, 'worker'), optionsOrPredicate);
  }

  /** @internal */
  _onClosed(): void {
    if (this.#closed)
      return;
    this.#closed = true;
    this.emit('close', this);
  }

  /** The worker's console messages are sent with those of its page or its context. @internal */
  override _listening(): void {
    const on = this.listenerCount('console') > 0;
    if (on)
      this.#unhear ??= listen(this._page ?? this._context, 'console', () => {});
    if (!on) {
      this.#unhear?.();
      this.#unhear = undefined;
    }
  }
}
