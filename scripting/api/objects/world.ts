import type { Browser } from './browser.ts';
import type { CDPSession } from './cdp.ts';
import { BrowserContext } from './context.ts';
import type { Frame } from './frame.ts';
import { Request, type RequestInit } from '../net/network.ts';
import { networkHandlers } from '../net/networkevents.ts';
import { socketHandlers, type WebSocket } from '../net/websocket.ts';
import { Page, type PageInit } from './page.ts';
import { pageHandlers } from './pageevents.ts';
import type { Worker, WorkerInit } from './worker.ts';

/** How many requests are kept by their ids. Older ones are forgotten. */
const maxRequests = 10_000;

/** The answer of init. */
export interface WorldInit {
  browser: { name: string; version: string };
  context: { id: string };
  pages: PageInit[];
  workers?: WorkerInit[];
  activePage?: string;
}

/**
 * All objects of the run by their ids. Events of the server keep them up to date, so that a script can read URLs, frames and pages without waiting.
 */
export class World {
  readonly pages = new Map<string, Page>();
  readonly frames = new Map<string, Frame>();
  readonly contexts = new Map<string, BrowserContext>();
  readonly sessions = new Map<string, CDPSession>();
  readonly workers = new Map<string, Worker>();
  readonly sockets = new Map<string, WebSocket>();
  readonly #requests = new Map<string, Request>();
  browser!: Browser;

  /** Returns the context with an id, and creates it if it is not known yet. */
  context(id: string): BrowserContext {
    let context = this.contexts.get(id);
    if (!context) {
      context = new BrowserContext(this, id);
      this.contexts.set(id, context);
    }
    return context;
  }

  /** Returns the page of a description. A page that is already known stays unchanged. */
  page(init: PageInit): Page {
    const known = this.pages.get(init.id);
    if (known)
      return known;
    const context = this.context(init.context);
    const page = new Page(this, context, init);
    this.pages.set(init.id, page);
    context._pages.push(page);
    return page;
  }

  /** Returns the request of a description, updated with what is known by now. */
  request(init: RequestInit): Request {
    const known = this.#requests.get(init.id);
    if (known) {
      known._update(init);
      return known;
    }
    const request = new Request(this, init);
    this.#requests.set(init.id, request);
    if (this.#requests.size > maxRequests)
      this.#requests.delete(this.#requests.keys().next().value!);
    return request;
  }

  /** Handles one event of the server (automation/events.go). */
  event(name: string, e: Record<string, any>): void {
    const handler = handlers[name];
    if (handler)
      handler(this, e);
  }
}

const handlers: Record<string, (w: World, e: Record<string, any>) => void> = {
  ...networkHandlers,
  ...socketHandlers,
  'page.created'(w, e) {
    if (w.pages.has(e['id']))
      return;
    const page = w.page(e as unknown as PageInit);
    page.context().emit('page', page);
    const opener = e['opener'] && w.pages.get(e['opener']);
    if (opener)
      opener.emit('popup', page);
  },
  'page.closed'(w, e) {
    const page = w.pages.get(e['page']);
    if (!page)
      return;
    w.pages.delete(e['page']);
    page._onClosed(e['reason']);
  },
  'cdp.event': (w, e) => w.sessions.get(e['session'])?._onEvent(e['method'], e['params']),
  'cdp.closed': (w, e) => w.sessions.get(e['session'])?._onClosed(),
  'page.crashed': (w, e) => w.pages.get(e['page'])?._onCrashed(),
  'frame.attached'(w, e) {
    const page = w.pages.get(e['page']);
    if (page && !w.frames.has(e['frame']))
      page._attach({ id: e['frame'], parent: e['parent'], name: e['name'], url: e['url'] });
  },
  'frame.detached': (w, e) => w.frames.get(e['frame'])?._onDetached(),
  'frame.navigated': (w, e) => w.frames.get(e['frame'])?._onNavigated(e as any),
  'frame.loadstate': (w, e) => w.frames.get(e['frame'])?._onLoadState(e['add'], e['remove']),
  ...pageHandlers,
  'dialog.opened': (w, e) => w.pages.get(e['page'])?._onDialog(e as any),
};
