// Events that the server tells only while a script listens to them.

import { first } from './call.ts';
import type { Emitter } from './emitter.ts';

/** Our events by Playwright's names, each with the kind that the server tells. */
const kinds: Record<string, string> = {
  dialog: 'dialog', console: 'console', pageerror: 'pageerror', weberror: 'pageerror', filechooser: 'filechooser',
  request: 'request', response: 'response', requestfinished: 'requestfinished', requestfailed: 'requestfailed', websocket: 'websocket',
};

/** What a page or a context listens to at the moment. */
export class Subscriptions {
  readonly #where: object;
  readonly #emitter: Emitter;
  readonly #on = new Set<string>();

  /** where names the page or context to the server. */
  constructor(emitter: Emitter, where: object) {
    this.#emitter = emitter;
    this.#where = where;
  }

  /** Told when listeners of an event, or of any, have come or gone. */
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
