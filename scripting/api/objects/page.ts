import type * as pw from 'playwright-core';
import { act, picture, shotParams, type Subject } from './actions.ts';
import type { Browser } from './browser.ts';
import { pick, quietly, step, Timeouts } from '../core/call.ts';
import type { BrowserContext } from './context.ts';
import { mediaParams } from './contextoptions.ts';
import { Dialog, type DialogInit } from './dialog.ts';
import type { Clock } from './clock.ts';
import { addInitScript, expose } from './bindings.ts';
import { type ConsoleInit, consoleMessage, type ConsoleMessage } from './consolemessage.ts';
import { type Disposable, pageError, type PageErrorInit, tellBoth } from './events.ts';
import { Subscriptions } from '../core/subscriptions.ts';
import type { Locator } from './locator.ts';
import { addLocatorHandler, removeLocatorHandler } from './overlays.ts';
import type { Worker } from './worker.ts';
import { TargetClosedError } from '../core/errors.ts';
import { waitForEvent } from '../core/waiting.ts';
import { Frame, type FrameInit } from './frame.ts';
import { Keyboard, Mouse, Touchscreen } from './input.ts';
import { checkHeaders } from '../net/headers.ts';
import type { Request, RequestInit, Response } from '../net/network.ts';
import { type UrlOrPredicate, waitForRequest, waitForResponse } from '../net/networkevents.ts';
import { type SocketHandler, SocketRoutes } from '../net/websocketroute.ts';
import { type Behavior, type Handler, Routes, routeTitle } from '../net/route.ts';
import { hide } from './object.ts';
import type { APIRequestContext } from '../net/request.ts';
import { pdfParams } from './pdf.ts';
import { Scope, waitUntil } from './scope.ts';
import { quote } from '../core/selectors.ts';
import { urlMatches, type UrlMatch } from '../net/urls.ts';
import { Coverage } from './coverage.ts';
import { WebStorage } from './webstorage.ts';
import { requestTakeover } from './takeover.ts';
import type { World } from './world.ts';

/** A page, as the server describes it. */
export interface PageInit {
  id: string;
  context: string;
  mainFrame: FrameInit;
  frames?: FrameInit[];
  opener?: string;
  viewport?: { width: number; height: number };
}

type Opt<K extends keyof pw.Page, N extends number = 0> = pw.Page[K] extends (...a: infer A) => unknown ? A[N] : never;

/** A tab. */
export class Page extends Scope {
  readonly keyboard: Keyboard;
  readonly mouse: Mouse;
  readonly touchscreen: Touchscreen;
  readonly localStorage = new WebStorage(this, 'localStorage');
  readonly sessionStorage = new WebStorage(this, 'sessionStorage');
  readonly coverage = new Coverage(this);
  /** @internal */
  readonly _world: World;
  /** @internal */
  readonly _timeouts: Timeouts;
  #context: BrowserContext;
  #main: Frame;
  #opener: string | undefined;
  #viewport: { width: number; height: number } | null;
  /** @internal */
  readonly _routes: Routes;
  /** @internal */
  readonly _socketRoutes = new SocketRoutes(() => this.#context);
  #closed = false;
  #reason: string | undefined;
  readonly #subscriptions: Subscriptions;
  #dialog: Dialog | undefined;

  constructor(world: World, context: BrowserContext, init: PageInit) {
    super(init.id);
    this._world = world;
    this._timeouts = new Timeouts(context._timeouts);
    this.#context = context;
    this.#opener = init.opener;
    this.#viewport = init.viewport ?? null;
    this.#subscriptions = new Subscriptions(this, this._where);
    this.#main = new Frame(world, this, init.mainFrame);
    for (const f of init.frames ?? [])
      this._attach(f);
    this._routes = new Routes(this, 'page', () => this.#closed);
    this.keyboard = new Keyboard(this);
    this.mouse = new Mouse(this);
    this.touchscreen = new Touchscreen(this);
    hide(this, '_world', '_timeouts', '_routes', '_socketRoutes', 'keyboard', 'mouse', 'touchscreen', 'localStorage', 'sessionStorage', 'coverage');
  }

  /** @internal */
  override get _target(): Frame { return this.#main; }
  /** @internal */
  override get _prefix(): string { return 'page'; }
  /** Identifies the page in operations. @internal */
  get _where(): { page: string } { return { page: this._guid }; }

  // Needs no request to the server.
  url(): string { return this.#main.url(); }
  context(): BrowserContext { return this.#context; }
  get clock(): Clock { return this.#context.clock; }
  get request(): APIRequestContext { return this.#context.request; }
  mainFrame(): Frame { return this.#main; }
  frames(): Frame[] { return [...this._world.frames.values()].filter(f => f.page() === this); }
  frame(selector: string | { name?: string; url?: UrlMatch }): Frame | null {
    const { name, url } = typeof selector === 'string' ? { name: selector, url: undefined } : selector;
    if (name === undefined && url === undefined)
      throw new Error('Either name or url matcher should be specified');
    return this.frames().find(f => name !== undefined ? f.name() === name : urlMatches(f.url(), url, this.#context._options.baseURL)) ?? null;
  }
  isClosed(): boolean { return this.#closed; }
  viewportSize(): { width: number; height: number } | null { return this.#viewport; }
  async opener(): Promise<Page | null> { return this.#opener ? this._world.pages.get(this.#opener) ?? null : null; }
  setDefaultTimeout(ms: number): void { this._timeouts.setGeneral(ms); }
  setDefaultNavigationTimeout(ms: number): void { this._timeouts.setNavigation(ms); }

  // Navigation.
  reload(options?: Opt<'reload'>): Promise<Response | null> { return this.#navigate('reload', options); }
  goBack(options?: Opt<'goBack'>): Promise<Response | null> { return this.#navigate('goBack', options); }
  goForward(options?: Opt<'goForward'>): Promise<Response | null> { return this.#navigate('goForward', options); }

  // The tab itself.
  bringToFront(): Promise<void> { return this.#do('bringToFront', {}); }
  close(options?: Opt<'close'>): Promise<void> {
    if (this.#closed)
      return Promise.resolve();
    if (this.#context._ownerPage === this)
      return this.#context.close();
    return this.#do('close', pick(options, ['runBeforeUnload', 'reason']));
  }
  setViewportSize(size: { width: number; height: number }): Promise<void> {
    return step('page.setViewportSize', () => `page.setViewportSize({ width: ${size.width}, height: ${size.height} })`, async send => {
      await send('page.setViewportSize', { page: this._guid, width: size.width, height: size.height });
      this.#viewport = { width: size.width, height: size.height };
    });
  }
  emulateMedia(options?: Opt<'emulateMedia'>): Promise<void> { return this.#do('emulateMedia', mediaParams(options)); }
  screenshot(options?: Opt<'screenshot'>): Promise<any> {
    return step('page.screenshot', () => 'page.screenshot()', async send => {
      const { data } = await send<{ data: string }>('page.screenshot', {
        page: this._guid, ...shotParams(options, ['fullPage', 'clip']), timeout: this._timeouts.action(options),
      });
      return picture(send, data, options);
    }, options);
  }
  pdf(options?: Opt<'pdf'>): Promise<any> {
    return step('page.pdf', () => 'page.pdf()', async send => {
      const { data } = await send<{ data: string }>('page.pdf', { page: this._guid, ...pdfParams(options) });
      return picture(send, data, options);
    });
  }
  requestGC(): Promise<void> { return this.#do('requestGC', {}); }

  // The network.
  requests(): Promise<Request[]> {
    return step('page.requests', () => 'page.requests()', async send =>
      (await send<{ requests: RequestInit[] }>('page.requests', { page: this._guid })).requests.map(r => this._world.request(r)));
  }
  waitForRequest(urlOrPredicate: Opt<'waitForRequest'>, options?: Opt<'waitForRequest', 1>): Promise<Request> {
    return waitForRequest(this, urlOrPredicate as UrlOrPredicate<Request>, options);
  }
  waitForResponse(urlOrPredicate: Opt<'waitForResponse'>, options?: Opt<'waitForResponse', 1>): Promise<Response> {
    return waitForResponse(this, urlOrPredicate as UrlOrPredicate<Response>, options);
  }
  route(url: UrlMatch, handler: Handler, options?: Opt<'route', 2>): Promise<Disposable> {
    return step('page.route', () => routeTitle('page', 'route', url), () => this._routes.add(url, handler, options?.times, this.#context._options.baseURL));
  }
  unroute(url: UrlMatch, handler?: Handler): Promise<void> {
    return step('page.unroute', () => routeTitle('page', 'unroute', url), () => this._routes.remove(url, handler));
  }
  unrouteAll(options?: { behavior?: Behavior }): Promise<void> {
    return step('page.unrouteAll', () => 'page.unrouteAll()', () => this._routes.removeAll(options?.behavior));
  }
  routeFromHAR(har: string, options?: Opt<'routeFromHAR', 1>): Promise<void> {
    return step('page.routeFromHAR', () => `page.routeFromHAR(${quote(har)})`, send => this._routes.addHAR(send, har, options, this.#context._options.baseURL));
  }
  routeWebSocket(url: UrlMatch, handler: SocketHandler): Promise<void> {
    return step('page.routeWebSocket', () => routeTitle('page', 'routeWebSocket', url), send => this._socketRoutes.add(send, url, handler));
  }
  async setExtraHTTPHeaders(headers: Record<string, string>): Promise<void> {
    checkHeaders(headers);
    return step('page.setExtraHTTPHeaders', () => 'page.setExtraHTTPHeaders()', async send => {
      await send('page.setExtraHTTPHeaders', { page: this._guid, headers });
    });
  }

  /** Waits until the page has come to rest: its document and network have settled, and nothing in it moves. Playwright has no such method. */
  waitForSettled(options?: { timeout?: number; signal?: AbortSignal }): Promise<void> {
    return step('page.waitForSettled', () => 'page.waitForSettled()', async send => {
      await send('page.waitForSettled', { page: this._guid, timeout: this._timeouts.navigation(options) });
    }, options);
  }

  /** Asks for a takeover: a person may look and act, and then ends the pause. */
  async pause(): Promise<void> { await requestTakeover('The script is paused'); }

  ariaSnapshot(options?: Opt<'ariaSnapshot'>): Promise<string> { return act(this.#body, 'ariaSnapshot', options); }
  ariaSnapshotJSON(options?: Opt<'ariaSnapshotJSON'>): Promise<any> { return act(this.#body, 'ariaSnapshotJSON', options); }
  getByRef(ref: string): Locator { return this.locator(`aria-ref=${ref}`); }
  hideHighlight(): Promise<void> { return this.#do('hideHighlight', {}); }
  get #body(): Subject { return { ...this.locator('body')._subject, prefix: 'page', title: method => `page.${method}()` }; }

  // Code in the page, and the page's output.
  addInitScript(script: unknown, arg?: unknown, options?: { exposeFunctions?: boolean }): Promise<Disposable> { return addInitScript(this, script, arg, options); }
  exposeFunction(name: string, callback: Function): Promise<Disposable> { return expose(this, 'exposeFunction', name, (_source, ...args) => callback(...args)); }
  exposeBinding(name: string, callback: (source: any, ...args: any[]) => any): Promise<Disposable> { return expose(this, 'exposeBinding', name, callback); }
  addLocatorHandler(locator: Locator, handler: (locator: Locator) => unknown, options?: { noWaitAfter?: boolean; times?: number }): Promise<void> {
    return addLocatorHandler(this, locator, handler, options);
  }
  removeLocatorHandler(locator: Locator): Promise<void> { return removeLocatorHandler(this, locator); }
  workers(): Worker[] { return [...this._world.workers.values()].filter(w => w._page === this); }
  consoleMessages(options?: Opt<'consoleMessages'>): Promise<ConsoleMessage[]> {
    return step('page.consoleMessages', () => 'page.consoleMessages()', async send => {
      const { messages } = await send<{ messages: ConsoleInit[] }>('page.consoleMessages', { page: this._guid, ...pick(options, ['filter']) });
      return messages.map(m => consoleMessage(this._world, m));
    });
  }
  pageErrors(options?: Opt<'pageErrors'>): Promise<Error[]> {
    return step('page.pageErrors', () => 'page.pageErrors()', async send => {
      const { errors } = await send<{ errors: PageErrorInit[] }>('page.pageErrors', { page: this._guid, ...pick(options, ['filter']) });
      return errors.map(pageError);
    });
  }
  clearConsoleMessages(): Promise<void> { return this.#do('clearConsoleMessages', {}); }
  clearPageErrors(): Promise<void> { return this.#do('clearPageErrors', {}); }

  waitForEvent(event: string, optionsOrPredicate?: ((arg: any) => unknown) | { predicate?: (arg: any) => unknown; timeout?: number; signal?: AbortSignal }): Promise<any> {
    return step('page.waitForEvent', () => `page.waitForEvent(${quote(event)})`, () => waitForEvent(this, event, optionsOrPredicate, this._timeouts, 'page'), optionsOrPredicate);
  }

  #do(method: string, params: object): Promise<void> {
    return step(`page.${method}`, () => `page.${method}()`, async send => { await send(`page.${method}`, { page: this._guid, ...params }); });
  }

  #navigate(method: string, options: object | undefined): Promise<Response | null> {
    return step(`page.${method}`, () => `page.${method}()`, async send => {
      const answer = await send<{ request: RequestInit | null } | undefined>(`page.${method}`, {
        page: this._guid, waitUntil: waitUntil(options), timeout: this._timeouts.navigation(options),
      });
      return answer?.request ? this._world.request(answer.request).existingResponse() : null;
    }, options);
  }

  /** @internal */
  _attach(init: FrameInit): void { tellBoth(this, 'frameattached', new Frame(this._world, this, init)); }

  /** Returns the error of waits that fail because the page is closed. @internal */
  _closedError(): Error { return new TargetClosedError(this.#reason); }

  /** @internal */
  _onClosed(reason?: string): void {
    if (this.#closed)
      return;
    this.#closed = true;
    this.#reason = reason;
    this.#context._pages = this.#context._pages.filter(p => p !== this);
    this.emit('close', this);
    this.#context.emit('pageclose', this);
    for (const frame of this.frames())
      this._world.frames.delete(frame._guid);
  }

  /** @internal */
  _onCrashed(): void { this.emit('crash', this); }

  /** @internal */
  _onDialog(init: DialogInit): void {
    const dialog = new Dialog(this, init);
    this.#dialog = dialog;
    if (!tellBoth(this, 'dialog', dialog))
      quietly('dialog.dismiss', { dialog: init.dialog }).catch(() => {}); // it is already closed
  }

  /** @internal */
  _onDialogClosed(): void {
    const dialog = this.#dialog;
    this.#dialog = undefined;
    if (dialog)
      tellBoth(this, 'dialogclosed', dialog);
  }

  /** @internal */
  override _listening(event: string | undefined): void {
    if (!this.#closed)
      this.#subscriptions.changed(event);
  }

  /** @internal */
  get _browser(): Browser { return this._world.browser; }
}
