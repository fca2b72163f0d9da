// EventTarget and AbortController, as far as scripts use them.

import { host } from './host.ts';

type Handler = ((event: Event) => void) | { handleEvent(event: Event): void };

/** An error with one of the web's names. */
export class DOMException extends Error {
  readonly code = 0;
  constructor(message = '', name = 'Error') {
    super(message);
    Object.defineProperty(this, 'name', { value: name, configurable: true });
  }
}

/** Something that happened. */
export class Event {
  readonly type: string;
  readonly cancelable: boolean;
  target: EventTarget | null = null;
  defaultPrevented = false;

  constructor(type: string, options: { cancelable?: boolean } = {}) {
    this.type = type;
    this.cancelable = !!options.cancelable;
  }

  get currentTarget(): EventTarget | null { return this.target; }
  preventDefault(): void { this.defaultPrevented = this.cancelable; }
  stopPropagation(): void {}
  stopImmediatePropagation(): void {}
}

/** Where events are listened for. */
export class EventTarget {
  #handlers = new Map<string, { handler: Handler; once: boolean }[]>();

  addEventListener(type: string, handler: Handler | null, options?: boolean | { once?: boolean }): void {
    const list = this.#handlers.get(type) ?? [];
    if (!handler || list.some(h => h.handler === handler))
      return;
    this.#handlers.set(type, [...list, { handler, once: typeof options === 'object' && !!options.once }]);
  }

  removeEventListener(type: string, handler: Handler | null): void {
    this.#handlers.set(type, (this.#handlers.get(type) ?? []).filter(h => h.handler !== handler));
  }

  dispatchEvent(event: Event): boolean {
    event.target = this;
    for (const { handler, once } of this.#handlers.get(event.type) ?? []) {
      if (once)
        this.removeEventListener(event.type, handler);
      if (typeof handler === 'function')
        handler.call(this, event);
      else
        handler.handleEvent(event);
    }
    return !event.defaultPrevented;
  }
}

/** Tells that something is to be given up. */
export class AbortSignal extends EventTarget {
  aborted = false;
  reason: unknown;
  onabort: ((event: Event) => void) | null = null;

  throwIfAborted(): void {
    if (this.aborted)
      throw this.reason;
  }

  /** @internal */
  _abort(reason: unknown): void {
    if (this.aborted)
      return;
    this.aborted = true;
    this.reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
    const event = new Event('abort');
    this.onabort?.(event);
    this.dispatchEvent(event);
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal();
    signal._abort(reason);
    return signal;
  }

  static timeout(ms: number): AbortSignal {
    const signal = new AbortSignal();
    host.holdTimer(host.setTimer(() => signal._abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms, false), false);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const any = new AbortSignal();
    for (const s of signals) {
      if (s.aborted)
        any._abort(s.reason);
      s.addEventListener('abort', () => any._abort(s.reason), { once: true });
    }
    return any;
  }
}

/** Gives something up. */
export class AbortController {
  readonly signal = new AbortSignal();
  abort(reason?: unknown): void { this.signal._abort(reason); }
}
