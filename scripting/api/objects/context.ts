import type * as pw from 'playwright-core';
import type { Browser } from './browser.ts';
import { Clock } from './clock.ts';
import { addInitScript, expose } from './bindings.ts';
import { pick, type Send, step, Timeouts } from '../core/call.ts';
import { TargetClosedError } from '../core/errors.ts';
import { CDPSession } from './cdp.ts';
import { readState } from './contextoptions.ts';
import { checkedCookies, clearCookies, type CookieFilter, list } from '../net/cookies.ts';
import type { Disposable } from './events.ts';
import { Subscriptions } from '../core/subscriptions.ts';
import { HarRecordings, recordingOf } from '../net/recordings.ts';
import { Tracing } from './tracing.ts';
import type { Worker } from './worker.ts';
import { Frame } from './frame.ts';
import type { HarOptions } from '../net/har.ts';
import { checkHeaders } from '../net/headers.ts';
import { hide, ApiObject } from './object.ts';
import { Page } from './page.ts';
import { waitForEvent } from '../core/waiting.ts';
import { APIRequestContext, credentialList, type RequestSource } from '../net/request.ts';
import { quote } from '../core/selectors.ts';
import { readStorage } from './storage.ts';
import { type SocketHandler, SocketRoutes } from '../net/websocketroute.ts';
import { type Behavior, type Handler, Routes, routeTitle } from '../net/route.ts';
import type { UrlMatch } from '../net/urls.ts';
import type { World } from './world.ts';

/** The options of newContext. */
export type ContextOptions = NonNullable<Parameters<pw.Browser['newContext']>[0]>;

type Cookies = Awaited<ReturnType<pw.BrowserContext['cookies']>>;

/** Pages that share cookies and storage. */
export class BrowserContext extends ApiObject {
  /** @internal */
  _pages: Page[] = [];
  /** @internal */
  _options: ContextOptions = {};
  /** Whether the script created the context and may close it. @internal */
  _own = false;
  /** The browser object that created the context; default: the session's browser. @internal */
  _browser: Browser | undefined;
  /** The page of browser.newPage(). The context closes with it. @internal */
  _ownerPage: Page | undefined;
  /** @internal */
  readonly _timeouts = new Timeouts();
  readonly clock = new Clock(this);
  /** @internal */
  readonly _recordings: HarRecordings;
  readonly tracing: Tracing;
  readonly request: APIRequestContext;
  /** @internal */
  readonly _routes: Routes;
  /** @internal */
  readonly _socketRoutes: SocketRoutes = new SocketRoutes(() => this);
  #world: World;
  #closed = false;
  #reason: string | undefined;
  readonly #subscriptions = new Subscriptions(this, this._where);

  constructor(world: World, id: string) {
    super(id);
    this.#world = world;
    this._recordings = new HarRecordings(this._where);
    this.tracing = new Tracing(this, this._recordings);
    this.request = new APIRequestContext(this.#requestSource());
    this._routes = new Routes(this, 'context', () => this.#closed);
    hide(this, '_pages', '_options', '_own', '_browser', '_ownerPage', '_timeouts', '_recordings', 'clock', 'tracing', 'request', '_routes', '_socketRoutes');
  }

  browser(): Browser { return this._browser ?? this.#world.browser; }
  pages(): Page[] { return [...this._pages]; }
  setDefaultTimeout(ms: number): void { this._timeouts.setGeneral(ms); }
  setDefaultNavigationTimeout(ms: number): void { this._timeouts.setNavigation(ms); }

  newPage(): Promise<Page> {
    return step('browserContext.newPage', () => 'context.newPage()', send => {
      if (this._ownerPage)
        throw new Error('Please use browser.newContext()');
      return this._newPage(send);
    });
  }

  /** @internal */
  async _newPage(send: Send): Promise<Page> {
    const { page } = await send<{ page: string }>('context.newPage', { context: this._guid });
    const made = this.#world.pages.get(page);
    if (!made)
      throw new Error('the new page is gone already');
    return made;
  }

  /** Closes a context that the script created. The session's own context stays open until the session ends. Recordings are written in either case. */
  close(options?: { reason?: string }): Promise<void> {
    return step('browserContext.close', () => 'context.close()', async send => {
      if (this.#closed)
        return;
      if (this._own) {
        this.#closed = true;
        this.#reason = options?.reason;
      }
      await this._recordings.stopAll(send);
      if (!this._own)
        return;
      await send('context.close', { context: this._guid, ...pick(options, ['reason']) });
      this.#world.contexts.delete(this._guid);
      this.emit('close', this);
    });
  }

  // The network.
  route(url: UrlMatch, handler: Handler, options?: { times?: number }): Promise<Disposable> {
    return step('browserContext.route', () => routeTitle('context', 'route', url), () => this._routes.add(url, handler, options?.times, this._options.baseURL));
  }
  unroute(url: UrlMatch, handler?: Handler): Promise<void> {
    return step('browserContext.unroute', () => routeTitle('context', 'unroute', url), () => this._routes.remove(url, handler));
  }
  unrouteAll(options?: { behavior?: Behavior }): Promise<void> {
    return step('browserContext.unrouteAll', () => 'context.unrouteAll()', () => this._routes.removeAll(options?.behavior));
  }
  routeFromHAR(har: string, options?: HarOptions): Promise<void> {
    return step('browserContext.routeFromHAR', () => `context.routeFromHAR(${quote(har)})`, send => this._routes.addHAR(send, har, options, this._options.baseURL));
  }
  routeWebSocket(url: UrlMatch, handler: SocketHandler): Promise<void> {
    return step('browserContext.routeWebSocket', () => routeTitle('context', 'routeWebSocket', url), send => this._socketRoutes.add(send, url, handler));
  }
  async setExtraHTTPHeaders(headers: Record<string, string>): Promise<void> {
    checkHeaders(headers);
    return step('browserContext.setExtraHTTPHeaders', () => 'context.setExtraHTTPHeaders()', async send => {
      await send('context.setExtraHTTPHeaders', { context: this._guid, headers });
    });
  }
  setOffline(offline: boolean): Promise<void> {
    return step('browserContext.setOffline', () => `context.setOffline(${offline})`, async send => {
      await send('context.setOffline', { context: this._guid, offline });
    });
  }
  setHTTPCredentials(httpCredentials: Parameters<pw.BrowserContext['setHTTPCredentials']>[0]): Promise<void> {
    return step('browserContext.setHTTPCredentials', () => 'context.setHTTPCredentials()', async send => {
      this._options.httpCredentials = httpCredentials as ContextOptions['httpCredentials'] ?? undefined;
      await send('context.setHTTPCredentials', { context: this._guid, credentials: credentialList(httpCredentials) });
    });
  }
  /** Applies the network options of a new context. @internal */
  async _setUpNetwork(send: Send): Promise<void> {
    const { extraHTTPHeaders, httpCredentials, offline, recordHar, baseURL } = this._options;
    if (recordHar)
      await this._recordings.start(send, recordingOf(recordHar), undefined, baseURL);
    if (extraHTTPHeaders) {
      checkHeaders(extraHTTPHeaders);
      await send('context.setExtraHTTPHeaders', { context: this._guid, headers: extraHTTPHeaders });
    }
    if (httpCredentials)
      await send('context.setHTTPCredentials', { context: this._guid, credentials: credentialList(httpCredentials) });
    if (offline)
      await send('context.setOffline', { context: this._guid, offline });
  }

  // Cookies.
  cookies(urls?: string | readonly string[]): Promise<Cookies> {
    return step('browserContext.cookies', () => 'context.cookies()', async send =>
      (await send<{ cookies: Cookies }>('context.cookies', { context: this._guid, urls: list(urls) })).cookies);
  }
  addCookies(cookies: Parameters<pw.BrowserContext['addCookies']>[0]): Promise<void> {
    return step('browserContext.addCookies', () => 'context.addCookies()', async send => {
      await send('context.addCookies', { context: this._guid, cookies: checkedCookies(cookies) });
    });
  }
  clearCookies(options?: CookieFilter): Promise<void> {
    return step('browserContext.clearCookies', () => 'context.clearCookies()', send =>
      clearCookies(send, { id: { context: this._guid }, verb: 'context' }, options));
  }

  // Storage, permissions, place.
  storageState(options?: Parameters<pw.BrowserContext['storageState']>[0]): ReturnType<pw.BrowserContext['storageState']> {
    return step('browserContext.storageState', () => 'context.storageState()', send => readStorage(send, this._guid, options));
  }
  setStorageState(state: Parameters<pw.BrowserContext['setStorageState']>[0]): Promise<void> {
    return step('browserContext.setStorageState', () => 'context.setStorageState()', async send => {
      await send('context.setStorageState', { context: this._guid, state: await readState(send, state) });
    });
  }
  grantPermissions(permissions: readonly string[], options?: { origin?: string }): Promise<void> {
    return step('browserContext.grantPermissions', () => `context.grantPermissions([${permissions.map(quote).join(', ')}])`, async send => {
      await send('context.grantPermissions', { context: this._guid, permissions, ...options?.origin && { origin: options.origin } });
    });
  }
  clearPermissions(): Promise<void> {
    return step('browserContext.clearPermissions', () => 'context.clearPermissions()', async send => { await send('context.clearPermissions', { context: this._guid }); });
  }
  setGeolocation(geolocation: Parameters<pw.BrowserContext['setGeolocation']>[0]): Promise<void> {
    return step('browserContext.setGeolocation', () => 'context.setGeolocation()', async send => {
      await send('context.setGeolocation', { context: this._guid, ...geolocation && { geolocation } });
    });
  }

  newCDPSession(page: Page | Frame): Promise<CDPSession> { return newCDPSession(this.#world, page); }

  #requestSource(): RequestSource {
    return {
      id: { context: this._guid },
      verb: 'context',
      baseURL: () => this._options.baseURL,
      defaults: () => ({ ignoreHTTPSErrors: !!this._options.ignoreHTTPSErrors, credentials: credentialList(this._options.httpCredentials) }),
      timeout: () => this._timeouts.action(),
      storageState: (send, options) => readStorage(send, this._guid, options),
      closed: () => this.#closed ? '' : undefined,
    };
  }

  addInitScript(script: unknown, arg?: unknown, options?: { exposeFunctions?: boolean }): Promise<Disposable> { return addInitScript(this, script, arg, options); }
  exposeFunction(name: string, callback: Function): Promise<Disposable> { return expose(this, 'exposeFunction', name, (_source, ...args) => callback(...args)); }
  exposeBinding(name: string, callback: (source: any, ...args: any[]) => any): Promise<Disposable> { return expose(this, 'exposeBinding', name, callback); }
  serviceWorkers(): Worker[] { return [...this.#world.workers.values()].filter(w => w._context === this && !w._page); }
  isClosed(): boolean { return this.#closed; }
  /** Returns the error of waits that fail because the context is closed. @internal */
  _closedError(): Error { return new TargetClosedError(this.#reason); }
  /** Returns an empty list, because a session has no extensions. */
  backgroundPages(): Page[] { return []; }

  /** Identifies the context in operations. @internal */
  get _where(): { context: string } { return { context: this._guid }; }
  /** @internal */
  get _prefix(): string { return 'browserContext'; }

  waitForEvent(event: string, optionsOrPredicate?: ((arg: any) => unknown) | { predicate?: (arg: any) => unknown; timeout?: number; signal?: AbortSignal }): Promise<any> {
    return step('browserContext.waitForEvent', () => `context.waitForEvent(${quote(event)})`, () =>
      waitForEvent(this, event, optionsOrPredicate, this._timeouts, 'context'), optionsOrPredicate);
  }

  /** @internal */
  override _listening(event: string | undefined): void { this.#subscriptions.changed(event); }
}

/** Opens a CDP session with a page, or with a frame in a process of its own. */
function newCDPSession(world: World, page: Page | Frame): Promise<CDPSession> {
  return step('browserContext.newCDPSession', () => 'context.newCDPSession()', async send => {
    if (!(page instanceof Page) && !(page instanceof Frame))
      throw new Error('page: expected Page or Frame');
    const { session } = await send<{ session: string }>('cdp.attach', page instanceof Page ? { page: page._guid } : { frame: page._guid });
    const made = new CDPSession(world, session);
    world.sessions.set(session, made);
    return made;
  });
}
