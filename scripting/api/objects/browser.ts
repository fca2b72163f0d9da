import { type Send, step } from '../core/call.ts';
import type { BrowserContext, ContextOptions } from './context.ts';
import { contextParams, defaults, readState } from './contextoptions.ts';
import { refuse, TargetClosedError } from '../core/errors.ts';
import { ApiObject, hide } from './object.ts';
import type { Page } from './page.ts';
import type { World } from './world.ts';

/** Options of launch that have an effect here. */
interface LaunchOptions { proxy?: ContextOptions['proxy'] }

/** The session's browser, for a script. */
export class Browser extends ApiObject {
  #world: World;
  #version: string;
  #launched: LaunchOptions | undefined;
  #connected = true;
  #made: BrowserContext[] = [];
  /** @internal */
  _type!: BrowserType;

  /** A launched browser only knows the contexts that it created, like a new Chromium. */
  constructor(world: World, version: string, launched?: LaunchOptions) {
    super('browser');
    this.#world = world;
    this.#version = version;
    this.#launched = launched;
    hide(this, '_type');
  }

  browserType(): BrowserType { return this._type; }
  version(): string { return this.#version; }
  isConnected(): boolean { return this.#connected; }
  contexts(): BrowserContext[] {
    return this.#launched ? this.#made.filter(c => !c.isClosed()) : [...this.#world.contexts.values()];
  }

  newContext(options: ContextOptions = {}): Promise<BrowserContext> {
    return step('browser.newContext', () => 'browser.newContext()', send => this.#newContext(send, options));
  }

  /** Opens a page in a new context, which ends with the page. */
  newPage(options: ContextOptions = {}): Promise<Page> {
    return step('browser.newPage', () => 'browser.newPage()', async send => {
      const context = await this.#newContext(send, options);
      const page = await context._newPage(send);
      context._ownerPage = page;
      return page;
    });
  }

  async #newContext(send: Send, chosen: ContextOptions): Promise<BrowserContext> {
    if (!this.#connected)
      throw new TargetClosedError();
    const options = { ...defaults.options, ...chosen };
    const { proxy } = this.#launched ?? {};
    const { context } = await send<{ context: string }>('browser.newContext', contextParams({ ...proxy && { proxy }, ...options }));
    const made = this.#world.context(context);
    made._own = true;
    made._browser = this;
    made._options = { ...options };
    await made._setUpNetwork(send);
    defaults.prepare(made);
    this.#made.push(made);
    if (options.storageState)
      await send('context.setStorageState', { context, initial: true, state: await readState(send, options.storageState) });
    this.emit('context', made);
    return made;
  }

  /** Closes the contexts that the script created. The browser itself belongs to the session and stays open. */
  async close(options?: { reason?: string }): Promise<void> {
    for (const context of this.contexts())
      await context.close(options);
    if (!this.#connected)
      return;
    this.#connected = false;
    this.emit('disconnected', this);
  }
  async [Symbol.asyncDispose](): Promise<void> { await this.close(); }

  /** Returns another object for the same browser. Used by launch. @internal */
  _launch(type: BrowserType, options: LaunchOptions): Browser {
    const made = new Browser(this.#world, this.#version, options);
    made._type = type;
    return made;
  }
}

/** The `chromium` of a library script. Every method leads to the session's browser. */
export class BrowserType {
  #browser: Browser;
  #name: string;

  constructor(browser: Browser, name: string) {
    this.#browser = browser;
    this.#name = name;
  }

  name(): string { return this.#name; }
  executablePath(): string { return ''; }
  async launch(options: LaunchOptions = {}): Promise<Browser> { return this.#get('launch')._launch(this, options); }
  async connect(_endpoint?: unknown, _options?: object): Promise<Browser> { return this.#get('connect'); }
  async connectOverCDP(_endpoint?: unknown, _options?: object): Promise<Browser> { return this.#get('connectOverCDP'); }
  /** Returns the session's own profile or, with options, a new context. */
  async launchPersistentContext(_dir?: string, options: ContextOptions & LaunchOptions = {}): Promise<BrowserContext> {
    const browser = this.#get('launchPersistentContext');
    if (!Object.keys(contextParams(options)).length && !options.baseURL)
      return browser.contexts()[0]!;
    const context = await browser._launch(this, {}).newContext(options);
    await context.newPage();
    return context;
  }
  async launchServer(_options?: object): Promise<never> { return refuse('browserType.launchServer', 'the browser of a session runs already; other programs connect to the CDP endpoint of the session'); }

  #get(method: string): Browser {
    if (this.#name !== 'chromium')
      return refuse(`${this.#name}.${method}`, 'sessions run Chromium, use chromium');
    return this.#browser;
  }
}
