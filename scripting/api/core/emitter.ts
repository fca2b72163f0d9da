import { host } from './host.ts';

/** A listener of events. Its result is ignored. */
export type Listener = (...args: any[]) => unknown;

/** The part of Node's EventEmitter that Playwright's objects have. */
export class Emitter {
  /** @internal */
  readonly _listeners = new Map<string, { listener: Listener; once: boolean }[]>();

  on(event: string, listener: Listener): this { return this.#add(event, listener, false); }
  addListener(event: string, listener: Listener): this { return this.#add(event, listener, false); }
  prependListener(event: string, listener: Listener): this {
    this.#add(event, listener, false);
    this._listeners.get(event)!.unshift(this._listeners.get(event)!.pop()!);
    return this;
  }
  once(event: string, listener: Listener): this { return this.#add(event, listener, true); }
  off(event: string, listener: Listener): this { return this.removeListener(event, listener); }

  removeListener(event: string, listener: Listener): this {
    const list = this._listeners.get(event);
    const i = list?.findIndex(l => l.listener === listener) ?? -1;
    if (list && i >= 0)
      this._listeners.set(event, list.filter((_, j) => j !== i));
    this._listening?.(event);
    return this;
  }

  removeAllListeners(event?: string): this {
    if (event === undefined)
      this._listeners.clear();
    else
      this._listeners.delete(event);
    this._listening?.(event);
    return this;
  }

  listenerCount(event: string): number { return this._listeners.get(event)?.length ?? 0; }

  emit(event: string, ...args: unknown[]): boolean {
    const list = this._listeners.get(event);
    if (!list?.length)
      return false;
    for (const l of list) {
      if (l.once)
        this.removeListener(event, l.listener);
      const result = l.listener.apply(this, args);
      if (result instanceof Promise)
        host.excuse(result);
    }
    return true;
  }

  /** Is called when listeners of an event are added or removed, for events that the server sends on demand. @internal */
  _listening?(event: string | undefined): void;

  #add(event: string, listener: Listener, once: boolean): this {
    if (typeof listener !== 'function')
      throw new TypeError('The "listener" argument must be of type function');
    this._listeners.set(event, [...this._listeners.get(event) ?? [], { listener, once }]);
    this._listening?.(event);
    return this;
  }
}

/** Listens until the returned function is called. */
export function listen(emitter: Emitter, event: string, listener: Listener): () => void {
  emitter.on(event, listener);
  return () => { emitter.removeListener(event, listener); };
}
