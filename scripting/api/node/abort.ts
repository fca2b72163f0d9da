// EventTarget and AbortController, as far as scripts need them.

import { host } from '../core/host.ts';

type Handler = ((event: Event) => void) | { handleEvent(event: Event): void };

/** The legacy codes of some error names. */
const codes: Record<string, number> = {
  IndexSizeError: 1, HierarchyRequestError: 3, InvalidCharacterError: 5, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12,
  InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18, NetworkError: 19, AbortError: 20, URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23,
  DataCloneError: 25,
};

/** An error with one of the web's names. */
export class DOMException extends Error {
  readonly code: number;
  constructor(message = '', options: string | { name?: string; cause?: unknown } = 'Error') {
    const { name = 'Error', ...rest } = typeof options === 'string' ? { name: options } : options;
    super(message, rest);
    Object.defineProperty(this, 'name', { value: name, configurable: true });
    this.code = Object.hasOwn(codes, name) ? codes[name]! : 0;
    Object.defineProperty(this, 'code', { enumerable: false });
  }
}

/** An event. */
export class Event {
  readonly type: string;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly timeStamp = host.now();
  readonly isTrusted = false;
  target: EventTarget | null = null;
  defaultPrevented = false;
  /** @internal */
  _stopped = false;

  constructor(type: string, options: { bubbles?: boolean; cancelable?: boolean; composed?: boolean } = {}) {
    this.type = String(type);
    this.bubbles = !!options.bubbles;
    this.cancelable = !!options.cancelable;
    this.composed = !!options.composed;
    Object.defineProperty(this, '_stopped', { enumerable: false });
  }

  get currentTarget(): EventTarget | null { return this.target; }
  get srcElement(): EventTarget | null { return this.target; }
  get eventPhase(): number { return this.target ? 2 : 0; }
  get returnValue(): boolean { return !this.defaultPrevented; }
  composedPath(): EventTarget[] { return this.target ? [this.target] : []; }
  preventDefault(): void { this.defaultPrevented ||= this.cancelable; }
  stopPropagation(): void {}
  stopImmediatePropagation(): void { this._stopped = true; }
}

/** An event with details. */
export class CustomEvent<T = unknown> extends Event {
  readonly detail: T | null;
  constructor(type: string, options: { bubbles?: boolean; cancelable?: boolean; composed?: boolean; detail?: T } = {}) {
    super(type, options);
    this.detail = options.detail ?? null;
  }
}

interface Listening { once?: boolean; signal?: AbortSignal }

/** An object with event listeners. */
export class EventTarget {
  #handlers = new Map<string, { handler: Handler; once: boolean }[]>();

  addEventListener(type: string, handler: Handler | null, options?: boolean | Listening): void {
    const list = this.#handlers.get(type) ?? [];
    const { once, signal } = typeof options === 'object' && options !== null ? options : {} as Listening;
    if (!handler || signal?.aborted || list.some(h => h.handler === handler))
      return;
    this.#handlers.set(type, [...list, { handler, once: !!once }]);
    signal?.addEventListener('abort', () => this.removeEventListener(type, handler), { once: true });
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
      if (event._stopped)
        break;
    }
    return !event.defaultPrevented;
  }
}

/** Signals that something should be aborted. */
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

/** Aborts something. */
export class AbortController {
  readonly signal = new AbortSignal();
  abort(reason?: unknown): void { this.signal._abort(reason); }
}
