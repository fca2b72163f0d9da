import { step } from './call.ts';
import { Frame } from './frame.ts';
import { ApiObject } from './object.ts';
import { Page } from './page.ts';
import { quote } from './selectors.ts';
import type { World } from './world.ts';

/** A session of the script's own with a page, for Chromium's commands as they are. */
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

/** Opens a session with a page, or with a frame that has one of its own. */
export function newCDPSession(world: World, page: Page | Frame): Promise<CDPSession> {
  return step('browserContext.newCDPSession', () => 'context.newCDPSession()', async send => {
    if (!(page instanceof Page) && !(page instanceof Frame))
      throw new Error('page: expected Page or Frame');
    const { session } = await send<{ session: string }>('cdp.attach', page instanceof Page ? { page: page._guid } : { frame: page._guid });
    const made = new CDPSession(world, session);
    world.sessions.set(session, made);
    return made;
  });
}
