/** Messages from the page side of web socket routes to the script. */
interface Told { type: string; id: string }

/** Commands from the script. */
interface Order { type: string; id: string; code?: number; reason?: string; wasClean?: boolean }

type Global = typeof globalThis & Record<string, unknown>;

const goingAway = 1001; // https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1

/**
 * Replaces the page's WebSocket by Playwright's. The function under the key undoes that: new sockets are the page's own again, sockets that the
 * script answered are closed, and sockets that were passed through stay open.
 */
export function mock(key: string, inject: (global: unknown) => void): void {
  const global = globalThis as Global;
  const native = global.WebSocket, tell = global['__pwWebSocketBinding'] as (told: Told) => unknown;
  const open = new Set<string>();
  let over = false, order: (order: Order) => void;

  // Without a script, each socket goes to its server.
  const told = (what: Told): unknown => {
    if (!over) {
      if (what.type === 'onCreate')
        open.add(what.id);
      return tell(what);
    }
    if (what.type === 'onCreate')
      queueMicrotask(() => order({ id: what.id, type: 'passthrough' }));
    return undefined;
  };
  global['__pwWebSocketBinding'] = told;
  inject(global);
  global['__pwWebSocketBinding'] = tell;
  if (global.WebSocket === native) // it has already been replaced
    return;
  const mocked = global.WebSocket;
  order = global['__pwWebSocketDispatch'] as typeof order;
  global['__pwWebSocketDispatch'] = (what: Order) => {
    if (what.type === 'passthrough' || what.type === 'closePage')
      open.delete(what.id);
    order(what);
  };

  Object.defineProperty(global, Symbol.for(key), { configurable: true, value: () => {
    over = true;
    delete (global as Record<symbol, unknown>)[Symbol.for(key)];
    delete global['__pwWebSocketDispatch'];
    if (global.WebSocket === mocked)
      global.WebSocket = native;
    for (const id of open) {
      order({ id, type: 'closePage', code: goingAway, reason: '', wasClean: true });
      order({ id, type: 'closeServer', code: undefined, reason: '' });
    }
    open.clear();
  } });
}
