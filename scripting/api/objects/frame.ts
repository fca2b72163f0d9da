import { step, wait, type Send, type Timeouts } from '../core/call.ts';
import { listen } from '../core/emitter.ts';
import { tellBoth } from './events.ts';
import type { Subject } from './actions.ts';
import { handles, type ElementHandle, type HandleInit } from './handle.ts';
import type { RequestInit, Response } from '../net/network.ts';
import { hide } from './object.ts';
import type { Page } from './page.ts';
import { pick } from '../core/call.ts';
import { Scope, waitUntil } from './scope.ts';
import { argument, text } from '../core/values.ts';
import { urlMatches, type UrlMatch } from '../net/urls.ts';
import type { World } from './world.ts';

/** A frame, as the server describes it. */
export interface FrameInit { id: string; parent?: string; url: string; name: string; loadStates?: string[] }

/** The argument of _onNavigated. */
interface Navigated { url: string; name: string; error?: string; newDocument?: boolean; request?: RequestInit }

/** A frame of a page. Its internal events: navigated, loadstate, detached. */
export class Frame extends Scope {
  /** @internal */
  readonly _world: World;
  /** @internal */
  readonly _states: Set<string>;
  #page: Page;
  #parent: Frame | null;
  #children = new Set<Frame>();
  #url: string;
  #name: string;
  #detached = false;

  constructor(world: World, page: Page, init: FrameInit) {
    super(init.id);
    this._world = world;
    this._states = new Set(init.loadStates);
    this.#page = page;
    this.#url = init.url;
    this.#name = init.name;
    this.#parent = init.parent ? world.frames.get(init.parent) ?? null : null;
    if (this.#parent)
      this.#parent.#children.add(this);
    world.frames.set(init.id, this);
    hide(this, '_world', '_states');
  }

  /** @internal */
  override get _target(): Frame { return this; }
  /** @internal */
  override get _prefix(): string { return 'frame'; }
  /** @internal */
  get _timeouts(): Timeouts { return this.#page._timeouts; }

  page(): Page { return this.#page; }
  url(): string { return this.#url; }
  name(): string { return this.#name; }
  parentFrame(): Frame | null { return this.#parent; }
  childFrames(): Frame[] { return Array.from(this.#children); }
  isDetached(): boolean { return this.#detached; }
  frameElement(): Promise<ElementHandle> {
    return step('frame.frameElement', () => 'frame.frameElement()', async send =>
      handles.make(this.#parent ?? this, await send<HandleInit>('frame.frameElement', { frame: this._guid })) as ElementHandle);
  }

  /** @internal */
  async _goto(send: Send, url: string, options?: object): Promise<Response | null> {
    if (typeof url !== 'string')
      throw new Error(`url: expected string, got ${typeof url}`);
    const { referer } = (options ?? {}) as { referer?: string };
    const answer = await send<{ request: RequestInit | null } | undefined>('frame.goto', {
      frame: this._guid, url: this._absolute(url), referer, waitUntil: waitUntil(options), timeout: this._timeouts.navigation(options),
    });
    return answer?.request ? this._world.request(answer.request).existingResponse() : null;
  }

  /** Completes a URL for goto with the context's baseURL. */
  private _absolute(url: string): string {
    const base = this.#page.context()._options.baseURL;
    if (!base || /^[a-z][a-z0-9+.-]*:/i.test(url))
      return url;
    return new URL(url, base).href;
  }

  /** @internal */
  _waitForLoadState(state: string, timeout: number, options?: object, log = [`waiting for "${state}" of ${this.#url}`]): Promise<void> {
    if (state === 'networkidle0')
      state = 'networkidle';
    if (!['load', 'domcontentloaded', 'networkidle', 'commit'].includes(state))
      return Promise.reject(new Error('state: expected one of (load|domcontentloaded|networkidle|commit)'));
    if (state === 'commit' || this._states.has(state))
      return Promise.resolve();
    return this.#watch<void>(timeout, log, resolve => [
      listen(this, 'loadstate', added => { if (added === state) resolve(); }),
    ], options);
  }

  /** @internal */
  async _waitForURL(url: UrlMatch, options?: object): Promise<void> {
    const timeout = this._timeouts.navigation(options);
    const until = waitUntil(options) ?? 'load';
    const base = this.#page.context()._options.baseURL;
    const deadline = Date.now() + timeout;
    const log = [`waiting for navigation to ${typeof url === 'function' ? 'a URL' : `"${String(url)}"`} until "${until}"`];
    if (!urlMatches(this.#url, url, base))
      await this.#navigation(timeout, log, u => urlMatches(u, url, base), options);
    await this._waitForLoadState(until, left(timeout, deadline), options, log);
  }

  /** @internal */
  async _waitForNavigation(options?: object): Promise<Response | null> {
    const { url } = (options ?? {}) as { url?: UrlMatch };
    const timeout = this._timeouts.navigation(options);
    const until = waitUntil(options) ?? 'load';
    const base = this.#page.context()._options.baseURL;
    const deadline = Date.now() + timeout;
    const log = [`waiting for navigation${url === undefined ? '' : ` to "${String(url)}"`} until "${until}"`];
    const { request } = await this.#navigation(timeout, log, u => urlMatches(u, url, base), options);
    await this._waitForLoadState(until, left(timeout, deadline), options, log);
    return request ? this._world.request(request).existingResponse() : null;
  }

  #navigation(timeout: number, log: string[], wanted: (url: string) => boolean, options?: object): Promise<Navigated> {
    return this.#watch<Navigated>(timeout, log, (resolve, _reject, abandon) => [
      listen(this, 'navigated', (e: Navigated) => {
        if (e.error)
          return abandon(new Error(e.error));
        if (!wanted(e.url))
          log.push(`  navigated to "${e.url}"`);
        else
          resolve(e);
      }),
    ], options);
  }

  /** Waits for events of this frame. Rejects if the frame or its page goes away. */
  #watch<T>(timeout: number, log: string[], watch: (resolve: (v: T) => void, reject: (e: Error) => void, abandon: (e: Error) => void) => (() => void)[], options?: object): Promise<T> {
    return wait<T>(timeout, log, (resolve, reject, abandon) => {
      if (this.#detached || this.#page.isClosed())
        reject(this.#page.isClosed() ? this.#page._closedError() : new Error('Navigating frame was detached!'));
      const stops = [
        ...watch(resolve, reject, abandon),
        listen(this, 'detached', () => reject(new Error('Navigating frame was detached!'))),
        listen(this.#page, 'close', () => reject(this.#page._closedError())),
        listen(this.#page, 'crash', () => reject(new Error('Navigation failed because page crashed!'))),
      ];
      return () => stops.forEach(stop => stop());
    }, undefined, options);
  }

  /** @internal */
  _dispatch(s: Subject, type: string, eventInit?: unknown, options?: object): Promise<void> {
    const verb = 'handle' in s.target ? 'handle' : 'frame';
    return step(`${s.prefix}.dispatchEvent`, () => s.title('dispatchEvent', [type]), async send => {
      await send(`${verb}.dispatchEvent`, { ...s.target, type: text('type', type), eventInit: argument(eventInit ?? {}), timeout: this._timeouts.action(options) });
    }, options);
  }

  /** @internal */
  _drag(name: string, title: string, sourceSelector: string, targetSelector: string, options?: object): Promise<void> {
    return step(name, () => title, async send => {
      await send('frame.dragAndDrop', {
        frame: this._guid, sourceSelector, targetSelector, ...pick(options, ['strict', 'force', 'trial', 'sourcePosition', 'targetPosition', 'steps']),
        timeout: this._timeouts.action(options),
      });
    }, options);
  }

  /** @internal */
  _onNavigated(e: Navigated): void {
    if (!e.error) {
      this.#url = e.url;
      this.#name = e.name;
    }
    this.emit('navigated', e);
    if (!e.error)
      tellBoth(this.#page, 'framenavigated', this);
  }

  /** @internal */
  _onLoadState(added: string | undefined, removed: string | undefined): void {
    if (removed)
      this._states.delete(removed);
    if (!added)
      return;
    this._states.add(added);
    this.emit('loadstate', added);
    if (this.#parent || added !== 'load' && added !== 'domcontentloaded')
      return;
    this.#page.emit(added, this.#page);
    if (added === 'load')
      this.#page.context().emit('pageload', this.#page);
  }

  /** @internal */
  _onDetached(): void {
    if (this.#detached)
      return;
    for (const child of this.childFrames())
      child._onDetached();
    this.#detached = true;
    if (this.#parent)
      this.#parent.#children.delete(this);
    this._world.frames.delete(this._guid);
    this.emit('detached');
    tellBoth(this.#page, 'framedetached', this);
  }
}

// Returns the remaining part of a timeout, where 0 means no limit.
function left(timeout: number, deadline: number): number {
  return timeout === 0 ? 0 : Math.max(1, deadline - Date.now());
}
