import { step } from '../core/call.ts';
import { ApiObject } from './object.ts';
import { quote } from '../core/selectors.ts';
import type { World } from './world.ts';

/** A script's CDP session with a page, for raw CDP commands. */
export class CDPSession extends ApiObject {
  #world: World;

  constructor(world: World, id: string) {
    super(id);
    this.#world = world;
  }

  send(method: string, params?: object, options?: { timeout?: number; signal?: AbortSignal }): Promise<any> {
    return step('cdpSession.send', () => `cdpSession.send(${quote(method)})`, async send => {
      const { result } = await send<{ result: object }>('cdp.send', { session: this._guid, method, params, timeout: options?.timeout });
      return result;
    }, options);
  }

  detach(): Promise<void> {
    return step('cdpSession.detach', () => 'cdpSession.detach()', async send => {
      await send('cdp.detach', { session: this._guid });
      this._onClosed();
    });
  }

  /** @internal */
  _onEvent(method: string, params: object): void {
    this.emit('event', { method, params });
    this.emit(method, params);
  }

  /** @internal */
  _onClosed(): void {
    if (this.#world.sessions.delete(this._guid))
      this.emit('close', this);
  }
}
