import { ApiObject } from '../objects/object.ts';
import type { Page } from '../objects/page.ts';
import { step, wait } from '../core/call.ts';
import { listen } from '../core/emitter.ts';
import { quote } from '../core/selectors.ts';
import { buffer } from '../core/values.ts';
import type { World } from '../objects/world.ts';

/** A WebSocket of a page. */
export class WebSocket extends ApiObject {
  #page: Page;
  #url: string;
  #closed = false;

  constructor(page: Page, id: string, url: string) {
    super(id);
    this.#page = page;
    this.#url = url;
  }

  url(): string { return this.#url; }
  isClosed(): boolean { return this.#closed; }

  waitForEvent(event: string, optionsOrPredicate?: ((arg: any) => unknown) | { predicate?: (arg: any) => unknown; timeout?: number; signal?: AbortSignal }): Promise<any> {
    const options: { predicate?: (arg: any) => unknown; timeout?: number } = typeof optionsOrPredicate === 'function' ? { predicate: optionsOrPredicate } : optionsOrPredicate ?? {};
    const { predicate } = options;
    return step('webSocket.waitForEvent', () => `webSocket.waitForEvent(${quote(event)})`, () =>
      wait(this.#page._timeouts.action(options), [], (resolve, reject, abandon) => {
        const stops = [
          listen(this, event, async arg => {
            try {
              if (!predicate || await predicate(arg))
                resolve(arg);
            } catch (e) {
              reject(e as Error);
            }
          }),
          listen(this.#page, 'close', () => abandon(this.#page._closedError())),
        ];
        if (event !== 'socketerror')
          stops.push(listen(this, 'socketerror', () => abandon(new Error('Socket error'))));
        if (event !== 'close')
          stops.push(listen(this, 'close', () => abandon(new Error('Socket closed'))));
        return () => stops.forEach(stop => stop());
      }, event, options), options);
  }

  /** @internal */
  _onFrame(sent: boolean, binary: boolean, data: string): void {
    this.emit(sent ? 'framesent' : 'framereceived', { payload: binary ? buffer(data) : data });
  }
  /** @internal */
  _onError(text: string): void { this.emit('socketerror', text); }
  /** @internal */
  _onClosed(): void {
    this.#closed = true;
    this.emit('close', this);
  }
}

/** The server's events about WebSockets (automation/websocket.go). */
export const socketHandlers: Record<string, (w: World, e: Record<string, any>) => void> = {
  'websocket'(w, e) {
    const page = w.pages.get(e['page']);
    if (!page)
      return;
    const socket = new WebSocket(page, e['socket'], e['url']);
    w.sockets.set(e['socket'], socket);
    page.emit('websocket', socket);
  },
  'websocket.frame': (w, e) => w.sockets.get(e['socket'])?._onFrame(e['sent'], e['binary'], e['data']),
  'websocket.error': (w, e) => w.sockets.get(e['socket'])?._onError(e['text']),
  'websocket.closed'(w, e) {
    const socket = w.sockets.get(e['socket']);
    w.sockets.delete(e['socket']);
    socket?._onClosed();
  },
};
