// Events that the server sends only while a script listens to them.

import { first } from './call.ts';
import type { Emitter } from './emitter.ts';

/** Events by Playwright's names, each with the server's kind. */
const kinds: Record<string, string> = {
  dialog: 'dialog', console: 'console', pageerror: 'pageerror', weberror: 'pageerror', filechooser: 'filechooser',
  request: 'request', response: 'response', requestfinished: 'requestfinished', requestfailed: 'requestfailed', websocket: 'websocket',
};

/** The events that a page or a context listens for now. */
export class Subscriptions {
  readonly #where: object;
  readonly #emitter: Emitter;
  readonly #on = new Set<string>();

  /** `where` identifies the page or context to the server. */
  constructor(emitter: Emitter, where: object) {
    this.#emitter = emitter;
    this.#where = where;
  }

  /** Is called when listeners of an event, or of any event, were added or removed. */
  changed(event: string | undefined): void {
    for (const kind of event === undefined ? new Set(Object.values(kinds)) : [kinds[event]]) {
      if (kind === undefined)
        continue;
      const on = Object.keys(kinds).some(e => kinds[e] === kind && this.#emitter.listenerCount(e) > 0);
      if (on === this.#on.has(kind))
        continue;
      if (on)
        this.#on.add(kind);
      else
        this.#on.delete(kind);
      first('listen', { ...this.#where, event: kind, on });
    }
  }
}
