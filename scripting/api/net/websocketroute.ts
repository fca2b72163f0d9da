import type * as pw from 'playwright-core';
import { expose } from '../objects/bindings.ts';
import { quietly, type Send } from '../core/call.ts';
import type { BrowserContext } from '../objects/context.ts';
import type { Frame } from '../objects/frame.ts';
import type { Page } from '../objects/page.ts';
import { urlMatches, type UrlMatch } from './urls.ts';
import { argument, base64, buffer } from '../core/values.ts';

/** A message to or from the page side. */
interface Data { data: string; isBase64: boolean }

/** Messages from the page side. */
interface Told { type: string; id: string; url: string; protocols?: string[]; data: Data; code?: number; reason?: string; wasClean: boolean }

type Message = string | Uint8Array;
type MessageHandler = (message: any) => unknown;
type CloseHandler = (code: number | undefined, reason: string | undefined) => unknown;

/** The handler of a WebSocket route. */
export type SocketHandler = Parameters<pw.Page['routeWebSocket']>[1];

/** The page's end of a WebSocket, and the connection to it. */
class PageEnd {
  readonly #frame: Frame;
  readonly #id: string;
  #before: Promise<unknown> = Promise.resolve();

  constructor(frame: Frame, id: string) {
    this.#frame = frame;
    this.#id = id;
  }

  /** Sends messages to the page side in order. If the page is gone, they are dropped. */
  tell(type: string, more: object = {}): Promise<void> {
    const done = this.#before.then(() => quietly('frame.evaluate', {
      frame: this.#frame._guid, expression: 'm => globalThis.__pwWebSocketDispatch(m)', isFunction: true, arg: argument({ id: this.#id, type, ...more }),
    })).then(() => {}, () => {});
    this.#before = done;
    return done;
  }
}

/** One side of a routed WebSocket: the page's or the server's. */
export class WebSocketRoute {
  readonly #init: { url: string; protocols: string[] };
  readonly #page: PageEnd;
  readonly #side: 'Page' | 'Server';
  #server: WebSocketRoute | undefined;
  #connected = false;
  #onMessage: MessageHandler | undefined;
  #onClose: CloseHandler | undefined;

  constructor(init: { url: string; protocols: string[] }, page: PageEnd, side: 'Page' | 'Server') {
    this.#init = init;
    this.#page = page;
    this.#side = side;
    if (side === 'Page')
      this.#server = new WebSocketRoute(init, page, 'Server');
  }

  url(): string { return this.#init.url; }
  protocols(): string[] { return [...this.#init.protocols]; }
  onMessage(handler: MessageHandler): void { this.#onMessage = handler; }
  onClose(handler: CloseHandler): void { this.#onClose = handler; }

  send(message: Message): void { void this.#page.tell(`sendTo${this.#side}`, { data: typeof message === 'string' ? { data: message, isBase64: false } : { data: base64(message), isBase64: true } }); }
  async close(options: { code?: number; reason?: string } = {}): Promise<void> {
    await this.#page.tell(`close${this.#side}`, { code: options.code, reason: options.reason, wasClean: true });
  }
  async [Symbol.asyncDispose](): Promise<void> { await this.close(); }

  connectToServer(): WebSocketRoute {
    if (!this.#server)
      throw new Error('connectToServer must be called on the page-side WebSocketRoute');
    if (this.#connected)
      throw new Error('Already connected to the server');
    this.#connected = true;
    void this.#page.tell('connect');
    return this.#server;
  }

  /** Handles a report of the page side about the socket. @internal */
  _take(told: Told): void {
    const { code, reason, wasClean } = told;
    const message = () => told.data.isBase64 ? buffer(told.data.data) : told.data.data;
    const server = this.#server!;
    switch (told.type) {
      case 'onMessageFromPage':
        if (this.#onMessage)
          this.#onMessage(message());
        else if (this.#connected)
          void this.#page.tell('sendToServer', { data: told.data });
        break;
      case 'onMessageFromServer':
        if (server.#onMessage)
          server.#onMessage(message());
        else
          void this.#page.tell('sendToPage', { data: told.data });
        break;
      case 'onClosePage':
        if (this.#onClose)
          this.#onClose(code, reason);
        else
          void this.#page.tell('closeServer', { code, reason, wasClean });
        break;
      case 'onCloseServer':
        if (server.#onClose)
          server.#onClose(code, reason);
        else
          void this.#page.tell('closePage', { code, reason, wasClean });
        break;
    }
  }

  /** Is called after the handler: a socket that is not connected to a server opens by itself. @internal */
  async _opened(): Promise<void> {
    if (!this.#connected)
      await this.#page.tell('ensureOpened');
  }
}

/** The WebSocket routes of a page or a context, newest first. */
export class SocketRoutes {
  readonly #contextOf: () => BrowserContext;
  readonly #routes: { url: UrlMatch; handler: SocketHandler }[] = [];
  readonly #sockets = new Map<string, WebSocketRoute>();
  #mocked: Promise<unknown> | undefined;

  constructor(contextOf: () => BrowserContext) {
    this.#contextOf = contextOf;
  }

  async add(send: Send, url: UrlMatch, handler: SocketHandler): Promise<void> {
    this.#routes.unshift({ url, handler });
    const context = this.#contextOf();
    await (context._socketRoutes.#mocked ??= mock(send, context));
  }

  /** Returns the route for a URL. @internal */
  find(url: string, base: string | undefined): SocketHandler | undefined {
    return this.#routes.find(r => urlMatches(url, r.url, base?.replace(/^http/, 'ws')))?.handler;
  }

  /** @internal */
  get sockets(): Map<string, WebSocketRoute> { return this.#sockets; }
}

/** Installs the page side in all pages of a context. Sockets without a route are passed through. */
async function mock(send: Send, context: BrowserContext): Promise<void> {
  await expose(context, 'routeWebSocket', '__pwWebSocketBinding', ({ page, frame }, told: Told) => take(page, frame, told));
  await send('mockWebSockets', context._where);
}

function take(page: Page, frame: Frame, told: Told): void {
  const { sockets } = page._socketRoutes;
  if (told.type !== 'onCreate') {
    sockets.get(told.id)?._take(told);
    return;
  }
  const end = new PageEnd(frame, told.id);
  const context = page.context();
  const base = context._options.baseURL;
  const handler = page._socketRoutes.find(told.url, base) ?? context._socketRoutes.find(told.url, base);
  if (!handler) {
    void end.tell('passthrough');
    return;
  }
  const route = new WebSocketRoute({ url: told.url, protocols: told.protocols ?? [] }, end, 'Page');
  sockets.set(told.id, route);
  // Not awaited, because errors of the handler concern only the script.
  void (async () => {
    await handler(route as unknown as pw.WebSocketRoute);
    await route._opened();
  })();
}
