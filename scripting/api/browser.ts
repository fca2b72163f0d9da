import { step } from './call.ts';
import type { BrowserContext, ContextOptions } from './context.ts';
import { contextParams, readState } from './contextoptions.ts';
import { refuse } from './errors.ts';
import { ApiObject, hide } from './object.ts';
import type { Page } from './page.ts';
import type { World } from './world.ts';

/** The session's browser. */
export class Browser extends ApiObject {
  #world: World;
  #version: string;
  /** @internal */
  _type!: BrowserType;

  constructor(world: World, version: string) {
    super('browser');
    this.#world = world;
    this.#version = version;
    hide(this, '_type');
  }

  browserType(): BrowserType { return this._type; }
  version(): string { return this.#version; }
  isConnected(): boolean { return true; }
  contexts(): BrowserContext[] { return [...this.#world.contexts.values()]; }

  newContext(options: ContextOptions = {}): Promise<BrowserContext> {
    return step('browser.newContext', () => 'browser.newContext()', async send => {
      const { context } = await send<{ context: string }>('browser.newContext', contextParams(options));
      const made = this.#world.context(context);
      made._own = true;
      made._options = { ...options };
      await made._setUpNetwork(send);
      if (options.storageState)
        await send('context.setStorageState', { context, initial: true, state: await readState(send, options.storageState) });
      this.emit('context', made);
      return made;
    });
  }

  /** A page in a context of its own, which ends with the page. */
  async newPage(options?: ContextOptions): Promise<Page> {
    const context = await this.newContext(options);
    const page = await context.newPage();
    context._ownerPage = page;
    return page;
  }

  /** Ends the contexts that the script made. The browser itself belongs to the session and stays. */
  async close(_options?: { reason?: string }): Promise<void> {
    for (const context of this.contexts())
      await context.close();
  }
}

/** What `chromium` is in a library script: every way to a browser leads to the session's. */
export class BrowserType {
  #browser: Browser;
  #name: string;

  constructor(browser: Browser, name: string) {
    this.#browser = browser;
    this.#name = name;
  }

  name(): string { return this.#name; }
  executablePath(): string { return ''; }
  async launch(_options?: object): Promise<Browser> { return this.#get('launch'); }
  async connect(_endpoint?: unknown, _options?: object): Promise<Browser> { return this.#get('connect'); }
  async connectOverCDP(_endpoint?: unknown, _options?: object): Promise<Browser> { return this.#get('connectOverCDP'); }
  async launchPersistentContext(_dir?: string, _options?: object): Promise<BrowserContext> { return this.#get('launchPersistentContext').contexts()[0]!; }
  async launchServer(_options?: object): Promise<never> { return refuse('browserType.launchServer', 'the session is the server, see its CDP endpoint'); }

  #get(method: string): Browser {
    if (this.#name !== 'chromium')
      return refuse(`${this.#name}.${method}`, 'sessions run Chromium, use chromium');
    return this.#browser;
  }
}
