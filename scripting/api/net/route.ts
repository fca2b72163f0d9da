import type * as pw from 'playwright-core';
import type { BrowserContext } from '../objects/context.ts';
import { TargetClosedError } from '../core/errors.ts';
import { ahead, quietly, type Send, step } from '../core/call.ts';
import { Disposable } from '../objects/events.ts';
import { type HarOptions, harHandler } from './har.ts';
import { type Header, headerList, Headers } from './headers.ts';
import { hide } from '../objects/object.ts';
import { type Overrides, postBuffer, type Request } from './network.ts';
import type { Page } from '../objects/page.ts';
import type { APIResponse } from './apiresponse.ts';
import { quote } from '../core/selectors.ts';
import { readFile } from '../core/files.ts';
import { mimeType } from './mimetypes.ts';
import { base64 } from '../core/values.ts';
import { patternOf, sameMatch, urlMatches, type UrlMatch } from './urls.ts';

type Options<K extends 'fulfill' | 'fetch'> = Parameters<pw.Route[K]>[0];

/** A request that waits for a decision. */
export class Route {
  #request: Request;
  /** Set while a handler has the route; called with whether the handler handled it. */
  #report: ((handled: boolean) => void) | null = null;
  /** Chromium was told the decision, or must not be told one. */
  #tried = false;
  /** @internal */
  _failed = false;

  constructor(request: Request) {
    this.#request = request;
    hide(this, '_failed');
  }

  request(): Request { return this.#request; }

  abort(errorCode?: string): Promise<void> {
    return this.#handle('abort', async send => { await send('route.abort', { request: this.#request._id, errorCode }); });
  }

  continue(options: Overrides = {}): Promise<void> {
    return this.#handle('continue', () => {
      this.#override(options);
      return this._go();
    });
  }

  fallback(options: Overrides = {}): Promise<void> {
    return this.#handle('fallback', async () => this.#override(options), false);
  }

  async fulfill(options: Options<'fulfill'> = {}): Promise<void> {
    if (options.json !== undefined && options.body !== undefined)
      throw new Error('Can specify either body or json parameters');
    await this.#handle('fulfill', async send => {
      const { status, headers, body } = await answerOf(send, options).catch(e => {
        this.#tried = false; // for example, because a file could not be read; the script may decide again
        throw e;
      });
      await send('route.fulfill', { request: this.#request._id, status, headers, body });
    });
  }

  fetch(options: Options<'fetch'> = {}): Promise<APIResponse> {
    return step('route.fetch', () => 'route.fetch()', send => {
      const { postData, url, ...rest } = options;
      const request = this.#request;
      const asked = { url: () => url ?? request.url(), method: () => request.method(), headers: () => request.headers(), postDataBuffer: () => request.postDataBuffer() };
      return request._world.context(request._contextId).request._fetch(send, asked, { ...rest, ...postData !== undefined && { data: postData as string } });
    }, options);
  }

  /** Sends the request to the network with the overrides so far. @internal */
  async _go(): Promise<void> {
    const { url, method, headers, postData } = this.#request._overrides;
    await quietly('route.continue', {
      request: this.#request._id, url, method,
      headers: headers && headerList(headers),
      postData: postData === undefined ? undefined : base64(postBuffer(postData)),
    });
  }

  /** Redirects a navigation; routes are asked again about the new URL. @internal */
  _lead(status: number, url: string): Promise<void> {
    return this.#handle('fulfill', async send => {
      await send('route.fulfill', { request: this.#request._id, status, headers: [{ name: 'location', value: url }], body: '', askAgain: true });
    });
  }

  /** Leaves the request waiting for ever. @internal */
  _wait(): void { this._failed = this.#tried = true; }

  /** Starts a handler. Resolves to whether it handled the request. @internal */
  _begin(): Promise<boolean> {
    this.#tried = false;
    return new Promise(resolve => { this.#report = resolve; });
  }

  #override({ url, method, headers, postData }: Overrides): void {
    const o = this.#request._overrides;
    this.#request._overrides = { url: url ?? o.url, method: method ?? o.method, headers: headers ?? o.headers, postData: postData ?? o.postData };
    hide(this.#request, '_overrides');
  }

  async #handle(method: string, body: (send: Send) => Promise<void>, handled = true): Promise<void> {
    if (!this.#report)
      throw new Error('Route is already handled!');
    await step(`route.${method}`, () => `route.${method}()`, async send => {
      if (this.#tried) // if the earlier decision failed, the request waits for ever
        throw new Error('Route is already handled!');
      this.#tried = true;
      try {
        await body(send);
        this.#report?.(handled);
        this.#report = null;
      } catch (e) {
        this._failed = true;
        throw e;
      }
    });
  }
}

/** Builds the response of fulfill. Options take precedence over a given response. */
async function answerOf(send: Send, options: NonNullable<Options<'fulfill'>>): Promise<{ status: number; headers: Header[]; body: string }> {
  let { body, path } = options;
  let contentType = options.contentType;
  const { json, response } = options;
  if (json !== undefined)
    body = JSON.stringify(json);
  let status = options.status;
  let list = options.headers && headerList(options.headers);
  if (response) {
    status ??= response.status();
    list ??= response.headersArray();
    if (body === undefined && path === undefined)
      body = await response.body();
  }
  let bytes: any;
  if (path !== undefined) {
    bytes = await readFile(send, path);
    contentType ??= mimeType(path);
  } else {
    bytes = postBuffer(body ?? '');
  }
  const headers: Header[] = (list ?? []).map(h => ({ name: h.name.toLowerCase(), value: h.value }));
  const set = (name: string, value: string) => {
    for (let i = headers.length - 1; i >= 0; i--) {
      if (headers[i]!.name === name)
        headers.splice(i, 1);
    }
    headers.push({ name, value });
  };
  if (contentType)
    set('content-type', contentType);
  else if (json !== undefined)
    set('content-type', 'application/json');
  if (bytes.length && !new Headers(headers).get('content-length'))
    set('content-length', String(bytes.length));
  return { status: status ?? 200, headers, body: base64(bytes) };
}

/** The handler of a route. */
export type Handler = Parameters<pw.Page['route']>[1];

/** A running call of a handler. */
interface Invocation { route: Route; over: Promise<void> }

/** A route of page.route or context.route. */
class RouteHandler {
  readonly url: UrlMatch;
  readonly handler: Handler;
  /** The URLs that the server asks about: a regular expression, or null for all. */
  readonly pattern: string | null;
  readonly #base: string | undefined;
  readonly #times: number;
  #handled = 0;
  #ignoresErrors = false;
  readonly #active = new Set<Invocation>();

  constructor(url: UrlMatch, handler: Handler, times: number | undefined, base: string | undefined) {
    this.url = url;
    this.handler = handler;
    this.#times = times ?? Infinity;
    this.#base = base;
    this.pattern = patternOf(url, base);
  }

  matches(url: string): boolean { return urlMatches(url, this.url, this.#base); }
  get expires(): boolean { return this.#handled + 1 >= this.#times; }

  /** Returns whether the handler took the request. */
  async handle(route: Route): Promise<boolean> {
    let over!: () => void;
    const invocation: Invocation = { route, over: new Promise<void>(resolve => { over = resolve; }) };
    this.#active.add(invocation);
    try {
      this.#handled++;
      const handled = route._begin();
      const [taken] = await Promise.all([handled, this.handler(route as unknown as pw.Route, route.request() as unknown as pw.Request)]);
      return taken;
    } catch (e) {
      if (this.#ignoresErrors)
        return false;
      if (e instanceof TargetClosedError) {
        e.message = `"${e.message}" while running route callback.\nConsider awaiting \`await page.unrouteAll({ behavior: 'ignoreErrors' })\`\nbefore the end of the test to ignore remaining routes in flight.`;
      }
      throw e;
    } finally {
      over();
      this.#active.delete(invocation);
    }
  }

  /** Stops the handler: waits for its calls, or ignores their errors. */
  async stop(behavior: 'wait' | 'ignoreErrors'): Promise<void> {
    if (behavior === 'ignoreErrors')
      this.#ignoresErrors = true;
    else
      await Promise.all([...this.#active].filter(i => !i.route._failed).map(i => i.over));
  }
}

/** How unrouteAll treats running handlers. */
export type Behavior = 'wait' | 'ignoreErrors' | 'default';

/** The routes of a page or a context, newest first. */
export class Routes {
  readonly #owner: Page | BrowserContext;
  readonly #kind: 'page' | 'context';
  #handlers: RouteHandler[] = [];
  #closed: () => boolean;

  constructor(owner: Page | BrowserContext, kind: 'page' | 'context', closed: () => boolean) {
    this.#owner = owner;
    this.#kind = kind;
    this.#closed = closed;
  }

  async add(url: UrlMatch, handler: Handler, times: number | undefined, base: string | undefined): Promise<Disposable> {
    const added = new RouteHandler(url, handler, times, base);
    this.#handlers.unshift(added);
    await this.#update();
    return new Disposable(() => this.#remove([added], 'default'));
  }

  async addHAR(send: Send, path: string, options: HarOptions = {}, base: string | undefined): Promise<void> {
    if (options.update) {
      const page = 'context' in this.#owner ? this.#owner : undefined;
      const context = page ? page.context() : this.#owner as BrowserContext;
      const recording = { path, content: options.updateContent ?? 'attach', minimal: options.updateMode !== 'full', url: options.url };
      await context._recordings.start(send, recording, page, base);
      return;
    }
    const handler = await harHandler(send, path, options);
    await this.add(options.url ?? '**/*', handler, undefined, base);
  }

  async remove(url: UrlMatch, handler: Handler | undefined): Promise<void> {
    await this.#remove(this.#handlers.filter(h => sameMatch(h.url, url) && (!handler || h.handler === handler)), 'default');
  }

  async removeAll(behavior: Behavior = 'default'): Promise<void> { await this.#remove(this.#handlers, behavior); }

  async #remove(gone: RouteHandler[], behavior: Behavior): Promise<void> {
    this.#handlers = this.#handlers.filter(h => !gone.includes(h));
    if (behavior !== 'default')
      await Promise.all(gone.map(h => h.stop(behavior)));
    await this.#update();
  }

  async #update(): Promise<void> {
    await ahead(`${this.#kind}.setRoutes`, { [this.#kind]: this.#owner._guid, patterns: this.#handlers.map(h => h.pattern) });
  }

  /** Returns whether one of the handlers took the request. @internal */
  async offer(route: Route): Promise<boolean> {
    for (const h of [...this.#handlers]) {
      if (this.#closed())
        return true; // nobody waits for the request any more
      if (!this.#handlers.includes(h) || !h.matches(route.request().url()))
        continue;
      if (h.expires)
        this.#handlers = this.#handlers.filter(o => o !== h);
      const taken = await h.handle(route);
      if (!this.#handlers.length)
        this.#update().catch(() => {}); // fails if the page is gone
      if (taken)
        return true;
    }
    return false;
  }
}

/** Offers a request to its routes: first to those of its page, then to those of the context. */
export async function offerRoute(request: Request): Promise<void> {
  const route = new Route(request);
  const page = request._page;
  if (page && await page._routes.offer(route))
    return;
  const context = request._world.contexts.get(request._contextId);
  if (context && await context._routes.offer(route))
    return;
  await route._go().catch(() => {}); // fails if the page is gone
}

/** Returns the name of a route in a step's title. */
export function routeTitle(on: string, method: string, url: UrlMatch): string {
  return `${on}.${method}(${typeof url === 'string' ? quote(url) : String(url)})`;
}
