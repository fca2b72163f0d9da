import type * as pw from 'playwright-core';
import { act, inputFiles, valueOf, type Extra, type Subject } from './actions.ts';
import { evaluation } from './bindings.ts';
import { pick, step, stepOf, wait } from '../core/call.ts';
import { readTextFile } from '../core/files.ts';
import { listen } from '../core/emitter.ts';
import { host } from '../core/host.ts';
import type { Frame } from './frame.ts';
import { type ElementHandle, handles, type HandleInit, type JSHandle, selectValues } from './handle.ts';
import { FrameLocator, Locator } from './locator.ts';
import type { Response } from '../net/network.ts';
import { ApiObject } from './object.ts';
import { by, quote, type FilterOptions, type Text } from '../core/selectors.ts';
import { spell, spellSelector } from '../core/spelling.ts';
import { expression, onlyOne, result, text } from '../core/values.ts';

type Opt<K extends keyof pw.Page, N extends number = 0> = pw.Page[K] extends (...a: infer A) => unknown ? A[N] : never;

/** Options of methods with a selector. With strict, the selector must not match several elements. */
interface Strict { strict?: boolean; timeout?: number }

/** The common part of Page and Frame: locators, and methods with a selector. A page's methods act on its main frame, but have the page's name. */
export abstract class Scope extends ApiObject {
  /** The frame of its methods. @internal */
  abstract get _target(): Frame;
  /** The prefix of its methods' names. @internal */
  abstract get _prefix(): string;

  #on(selector: string, options?: Strict): Subject {
    const frame = this._target;
    return {
      get target() { return { frame: frame._guid, selector: text('selector', selector), strict: options?.strict ?? frame.page().context()._options.strictSelectors }; },
      frame,
      prefix: this._prefix,
      title: (method, args) => `${this._prefix}.${method}(${[selector, ...args].map(quote).join(', ')})`,
    };
  }

  #act(method: string, selector: string, options?: object, extra?: Extra, shown?: readonly unknown[], name?: string): Promise<any> {
    return act(this.#on(selector, options as Strict), method, options, extra, shown, name);
  }

  // Locators.
  locator(selector: string, options?: FilterOptions): Locator { return new Locator(this._target, text('selector', selector), spellSelector(selector, options), options); }
  getByText(text: Text, o?: { exact?: boolean }): Locator { return new Locator(this._target, by.text(text, o?.exact), spell('getByText', text, o)); }
  getByLabel(text: Text, o?: { exact?: boolean }): Locator { return new Locator(this._target, by.label(text, o?.exact), spell('getByLabel', text, o)); }
  getByPlaceholder(text: Text, o?: { exact?: boolean }): Locator { return new Locator(this._target, by.placeholder(text, o?.exact), spell('getByPlaceholder', text, o)); }
  getByAltText(text: Text, o?: { exact?: boolean }): Locator { return new Locator(this._target, by.altText(text, o?.exact), spell('getByAltText', text, o)); }
  getByTitle(text: Text, o?: { exact?: boolean }): Locator { return new Locator(this._target, by.title(text, o?.exact), spell('getByTitle', text, o)); }
  getByTestId(id: Text): Locator { return new Locator(this._target, by.testId(id), spell('getByTestId', id)); }
  getByRole(role: Opt<'getByRole'>, o?: Opt<'getByRole', 1>): Locator { return new Locator(this._target, by.role(role, o), spell('getByRole', role, o)); }
  frameLocator(selector: string): FrameLocator { return new FrameLocator(this._target, selector, spellSelector(selector)); }

  // Actions.
  click(selector: string, options?: Opt<'click', 1>): Promise<void> { return this.#act('click', selector, options); }
  dblclick(selector: string, options?: Opt<'dblclick', 1>): Promise<void> { return this.#act('dblclick', selector, options); }
  hover(selector: string, options?: Opt<'hover', 1>): Promise<void> { return this.#act('hover', selector, options); }
  tap(selector: string, options?: Opt<'tap', 1>): Promise<void> { return this.#act('tap', selector, options); }
  check(selector: string, options?: Opt<'check', 1>): Promise<void> { return this.#act('check', selector, options); }
  uncheck(selector: string, options?: Opt<'uncheck', 1>): Promise<void> { return this.#act('uncheck', selector, options); }
  setChecked(selector: string, checked: boolean, options?: Opt<'setChecked', 2>): Promise<void> {
    return this.#act(checked ? 'check' : 'uncheck', selector, options, {}, [checked], 'setChecked');
  }
  fill(selector: string, value: string, options?: Opt<'fill', 2>): Promise<void> { return this.#act('fill', selector, options, () => ({ value: text('value', value) }), [value]); }
  type(selector: string, value: string, options?: Opt<'type', 2>): Promise<void> { return this.#act('type', selector, options, () => ({ text: text('text', value) }), [value]); }
  press(selector: string, key: string, options?: Opt<'press', 2>): Promise<void> { return this.#act('press', selector, options, () => ({ key: text('key', key) }), [key]); }
  focus(selector: string, options?: Opt<'focus', 1>): Promise<void> { return this.#act('focus', selector, options); }
  selectOption(selector: string, values: unknown, options?: Opt<'selectOption', 2>): Promise<string[]> { return this.#act('selectOption', selector, options, () => selectValues(values)); }
  setInputFiles(selector: string, files: Opt<'setInputFiles', 1>, options?: Opt<'setInputFiles', 2>): Promise<void> {
    return this.#act('setInputFiles', selector, options, () => inputFiles(files));
  }
  dispatchEvent(selector: string, type: string, eventInit?: unknown, options?: Opt<'dispatchEvent', 3>): Promise<void> {
    return this._target._dispatch(this.#on(selector, options as Strict), type, eventInit, options as object);
  }
  dragAndDrop(source: string, target: string, options?: Opt<'dragAndDrop', 2>): Promise<void> {
    return this._target._drag(`${this._prefix}.dragAndDrop`, `${this._prefix}.dragAndDrop(${quote(source)}, ${quote(target)})`, source, target, options);
  }

  // Reading.
  textContent(selector: string, options?: Opt<'textContent', 1>): Promise<string | null> { return this.#act('textContent', selector, options); }
  innerText(selector: string, options?: Opt<'innerText', 1>): Promise<string> { return this.#act('innerText', selector, options); }
  innerHTML(selector: string, options?: Opt<'innerHTML', 1>): Promise<string> { return this.#act('innerHTML', selector, options); }
  inputValue(selector: string, options?: Opt<'inputValue', 1>): Promise<string> { return this.#act('inputValue', selector, options); }
  getAttribute(selector: string, name: string, options?: Opt<'getAttribute', 2>): Promise<string | null> { return this.#act('getAttribute', selector, options, () => ({ name: text('name', name) }), [name]); }
  isVisible(selector: string, options?: Opt<'isVisible', 1>): Promise<boolean> { return this.#act('isVisible', selector, options); }
  isHidden(selector: string, options?: Opt<'isHidden', 1>): Promise<boolean> { return this.#act('isHidden', selector, options); }
  isEnabled(selector: string, options?: Opt<'isEnabled', 1>): Promise<boolean> { return this.#act('isEnabled', selector, options); }
  isDisabled(selector: string, options?: Opt<'isDisabled', 1>): Promise<boolean> { return this.#act('isDisabled', selector, options); }
  isEditable(selector: string, options?: Opt<'isEditable', 1>): Promise<boolean> { return this.#act('isEditable', selector, options); }
  isChecked(selector: string, options?: Opt<'isChecked', 1>): Promise<boolean> { return this.#act('isChecked', selector, options); }
  title(): Promise<string> {
    return this.#stepOf('title', [], 'frame.title', () => ({ frame: this._target._guid }), valueOf);
  }
  content(options?: { includeShadow?: boolean }): Promise<string> {
    return this.#stepOf('content', [], 'frame.content', () => ({ frame: this._target._guid, ...pick(options, ['includeShadow']) }), valueOf);
  }

  // Functions in the page.
  evaluate(code: unknown, arg?: unknown, options?: { exposeFunctions?: boolean }): Promise<any> {
    const target = { frame: this._target._guid };
    return onlyOne(arguments, 3, options) ?? (options?.exposeFunctions
      ? this.#step('evaluate', [], async send => result(await send('frame.evaluate', { ...target, ...await evaluation(send, target, code, arg, options) })))
      : this.#stepOf('evaluate', [], 'frame.evaluate', () => ({ ...target, ...expression(code, arg) }), result));
  }
  evaluateHandle(code: unknown, arg?: unknown, options?: { exposeFunctions?: boolean }): Promise<JSHandle> {
    const target = { frame: this._target._guid };
    return onlyOne(arguments, 3, options) ?? this.#step('evaluateHandle', [], async send =>
      handles.make(this._target, await send('frame.evaluateHandle', { ...target, ...await evaluation(send, target, code, arg, options) })));
  }
  $eval(selector: string, code: unknown, arg?: unknown, options?: { strict?: boolean }): Promise<any> {
    return onlyOne(arguments, 3) ?? this.#stepOf('$eval', [selector], 'frame.evalOnSelector', () =>
      ({ frame: this._target._guid, selector, strict: options?.strict, ...expression(code, arg) }), result);
  }
  $$eval(selector: string, code: unknown, arg?: unknown): Promise<any> {
    return onlyOne(arguments, 3) ?? this.#stepOf('$$eval', [selector], 'frame.evalOnSelectorAll', () =>
      ({ frame: this._target._guid, selector, ...expression(code, arg) }), result);
  }
  waitForFunction(code: unknown, arg?: unknown, options?: { polling?: number | 'raf'; timeout?: number; signal?: AbortSignal }): Promise<JSHandle> {
    const polling = typeof options?.polling === 'number' ? options.polling : undefined;
    return this.#step('waitForFunction', [], async send => {
      if (typeof options?.polling === 'string' && options.polling !== 'raf')
        throw new Error('Unknown polling option: ' + options.polling);
      return handles.make(this._target, await send('frame.waitForFunction', {
        frame: this._target._guid, ...expression(code, arg), polling, timeout: this._target._timeouts.action(options),
      }));
    }, options);
  }
  $(selector: string, options?: { strict?: boolean }): Promise<ElementHandle | null> {
    return this.#step('$', [selector], async send =>
      handles.element(this._target, await send('frame.querySelector', { frame: this._target._guid, selector, strict: options?.strict })));
  }
  $$(selector: string): Promise<ElementHandle[]> {
    return this.#step('$$', [selector], async send => {
      const { handles: list } = await send<{ handles: HandleInit[] }>('frame.querySelectorAll', { frame: this._target._guid, selector });
      return list.map(h => handles.make(this._target, h) as ElementHandle);
    });
  }
  waitForSelector(selector: string, options?: Opt<'waitForSelector', 1>): Promise<any> {
    const { state, strict } = (options ?? {}) as { state?: string; strict?: boolean };
    return this.#step('waitForSelector', [selector], async send =>
      handles.element(this._target, await send('frame.waitForSelector', {
        frame: this._target._guid, selector: text('selector', selector), state, strict, timeout: this._target._timeouts.action(options),
      })), options);
  }
  addScriptTag(options?: { url?: string; content?: string; type?: string; path?: string }): Promise<ElementHandle> { return this.#tag('addScriptTag', options); }
  addStyleTag(options?: { url?: string; content?: string; path?: string }): Promise<ElementHandle> { return this.#tag('addStyleTag', options); }

  // Navigation.
  goto(url: string, options?: Opt<'goto', 1>): Promise<Response | null> {
    return this.#step('goto', [url], send => this._target._goto(send, url, options), options);
  }
  setContent(html: string, options?: Opt<'setContent', 1>): Promise<void> {
    return this.#step('setContent', [], async send => {
      await send('frame.setContent', { frame: this._target._guid, html, waitUntil: waitUntil(options), timeout: this._target._timeouts.navigation(options) });
    }, options);
  }
  waitForLoadState(state?: 'load' | 'domcontentloaded' | 'networkidle' | 'commit', options?: { timeout?: number; signal?: AbortSignal }): Promise<void> {
    return this.#step('waitForLoadState', state ? [state] : [], () => this._target._waitForLoadState(state ?? 'load', this._target._timeouts.navigation(options), options), options);
  }
  waitForURL(url: Opt<'waitForURL'>, options?: Opt<'waitForURL', 1>): Promise<void> {
    return this.#step('waitForURL', [url], () => this._target._waitForURL(url as string, options), options);
  }
  waitForNavigation(options?: Opt<'waitForNavigation'>): Promise<Response | null> {
    return this.#step('waitForNavigation', [], () => this._target._waitForNavigation(options), options);
  }
  waitForTimeout(ms: number): Promise<void> {
    return this.#step('waitForTimeout', [ms], () => {
      if (typeof ms !== 'number')
        throw new Error(`waitTimeout: expected float, got ${typeof ms}`);
      const page = this._target.page();
      return wait<void>(0, [], (resolve, reject) => {
        const timer = host.setTimer(resolve, ms, false);
        const stop = listen(page, 'close', () => reject(page._closedError()));
        return () => {
          host.clearTimer(timer);
          stop();
        };
      });
    });
  }

  #tag(method: string, options?: { url?: string; content?: string; type?: string; path?: string }): Promise<ElementHandle> {
    return this.#step(method, [], async send => {
      const { path, ...rest } = options ?? {};
      if (rest.url === undefined && rest.content === undefined && path === undefined)
        throw new Error('Provide an object with a `url`, `path` or `content` property');
      if (path !== undefined)
        rest.content = await readTextFile(send, path) + (method === 'addScriptTag' ? '\n//# sourceURL=' : '\n/*# sourceURL=') + path.replace(/\n/g, '') + (method === 'addScriptTag' ? '' : '*/');
      return handles.make(this._target, await send(`frame.${method}`, { frame: this._target._guid, ...rest })) as ElementHandle;
    });
  }

  #step<T>(method: string, shown: readonly unknown[], body: Parameters<typeof step<T>>[2], options?: object): Promise<T> {
    return step(`${this._prefix}.${method}`, () => this.#titled(method, shown), body, options);
  }

  #stepOf<T>(method: string, shown: readonly unknown[], op: string, params: () => object, take: (answer: any) => T): Promise<T> {
    return stepOf(`${this._prefix}.${method}`, () => this.#titled(method, shown), op, params, take);
  }

  #titled(method: string, shown: readonly unknown[]): string { return `${this._prefix}.${method}(${shown.map(quote).join(', ')})`; }
}

/** Returns the waitUntil of navigation options. */
export function waitUntil(options: object | undefined): string | undefined {
  const value = (options as { waitUntil?: string } | undefined)?.waitUntil;
  return value === 'networkidle0' ? 'networkidle' : value;
}

