import type * as pw from 'playwright-core';
import { act, inputFiles, screenshot, type Extra, type Subject } from './actions.ts';
import { evaluation } from './bindings.ts';
import { pick, quietly, step } from '../core/call.ts';
import type { Frame } from './frame.ts';
import { ApiObject, hide } from './object.ts';
import { quote } from '../core/selectors.ts';
import { expression, markHandle, onlyOne, result, text } from '../core/values.ts';

/** A handle, as operations return it. */
export interface HandleInit { handle: string | null; preview?: string; element?: boolean }

type Opt<K extends keyof pw.ElementHandle, N extends number = 0> = pw.ElementHandle[K] extends (...a: infer A) => unknown ? A[N] : never;

/** Creates handles from an operation's answer. */
export const handles = {
  make(frame: Frame, init: HandleInit): JSHandle {
    return init.element ? new ElementHandle(frame, init) : new JSHandle(frame, init);
  },
  /** Returns the element, or null if there is none. */
  element(frame: Frame, init: HandleInit): ElementHandle | null {
    return init.handle ? new ElementHandle(frame, init) : null;
  },
};

/** A value that stays in the page. */
export class JSHandle extends ApiObject {
  /** @internal */
  readonly _handle: string;
  /** @internal */
  readonly _frame: Frame;
  #preview: string;

  constructor(frame: Frame, init: HandleInit) {
    super(init.handle ?? '');
    this._handle = init.handle ?? '';
    this._frame = frame;
    this.#preview = init.preview ?? 'JSHandle';
    hide(this, '_frame', '_handle');
    markHandle(this);
  }

  evaluate(code: unknown, arg?: unknown, options?: { exposeFunctions?: boolean }): Promise<any> {
    const target = { handle: this._handle };
    return onlyOne(arguments, 3, options) ?? step(`${this._prefix}.evaluate`, () => `${this._prefix}.evaluate()`, async send =>
      result(await send('handle.evaluate', { ...target, ...await evaluation(send, target, code, arg, options) })));
  }
  evaluateHandle(code: unknown, arg?: unknown, options?: { exposeFunctions?: boolean }): Promise<JSHandle> {
    const target = { handle: this._handle };
    return onlyOne(arguments, 3, options) ?? step(`${this._prefix}.evaluateHandle`, () => `${this._prefix}.evaluateHandle()`, async send =>
      handles.make(this._frame, await send('handle.evaluateHandle', { ...target, ...await evaluation(send, target, code, arg, options) })));
  }
  getProperty(name: string): Promise<JSHandle> {
    return step(`${this._prefix}.getProperty`, () => `${this._prefix}.getProperty(${quote(name)})`, async send =>
      handles.make(this._frame, await send('handle.getProperty', { handle: this._handle, name })));
  }
  getProperties(): Promise<Map<string, JSHandle>> {
    return step(`${this._prefix}.getProperties`, () => `${this._prefix}.getProperties()`, async send => {
      const { properties } = await send<{ properties: (HandleInit & { name: string })[] }>('handle.getProperties', { handle: this._handle });
      return new Map(properties.map(p => [p.name, handles.make(this._frame, p)]));
    });
  }
  jsonValue(): Promise<any> {
    return step(`${this._prefix}.jsonValue`, () => `${this._prefix}.jsonValue()`, async send =>
      result(await send('handle.jsonValue', { handle: this._handle })));
  }
  asElement(): ElementHandle | null { return null; }
  async dispose(): Promise<void> { await quietly('handle.dispose', { handle: this._handle }); }
  override toString(): string { return this.#preview; }

  /** @internal */
  get _prefix(): string { return 'jsHandle'; }
}

/** An element of the page. It always refers to the same element. */
export class ElementHandle extends JSHandle {
  /** @internal */
  override get _prefix(): string { return 'elementHandle'; }
  override asElement(): ElementHandle { return this; }

  /** @internal */
  get _subject(): Subject {
    return {
      target: { handle: this._handle },
      frame: this._frame,
      prefix: 'elementHandle',
      title: (method, args) => `elementHandle.${method}(${args.map(quote).join(', ')})`,
    };
  }

  #act(method: string, options?: object, extra?: Extra, shown?: readonly unknown[], name?: string): Promise<any> {
    return act(this._subject, method, options, extra, shown, name);
  }

  click(options?: Opt<'click'>): Promise<void> { return this.#act('click', options); }
  dblclick(options?: Opt<'dblclick'>): Promise<void> { return this.#act('dblclick', options); }
  hover(options?: Opt<'hover'>): Promise<void> { return this.#act('hover', options); }
  tap(options?: Opt<'tap'>): Promise<void> { return this.#act('tap', options); }
  check(options?: Opt<'check'>): Promise<void> { return this.#act('check', options); }
  uncheck(options?: Opt<'uncheck'>): Promise<void> { return this.#act('uncheck', options); }
  setChecked(checked: boolean, options?: Opt<'setChecked', 1>): Promise<void> { return this.#act(checked ? 'check' : 'uncheck', options, {}, [checked], 'setChecked'); }
  fill(value: string, options?: Opt<'fill', 1>): Promise<void> { return this.#act('fill', options, () => ({ value: text('value', value) }), [value]); }
  type(value: string, options?: Opt<'type', 1>): Promise<void> { return this.#act('type', options, () => ({ text: text('text', value) }), [value]); }
  press(key: string, options?: Opt<'press', 1>): Promise<void> { return this.#act('press', options, () => ({ key: text('key', key) }), [key]); }
  focus(): Promise<void> { return this.#act('focus'); }
  selectOption(values: unknown, options?: Opt<'selectOption', 1>): Promise<string[]> { return this.#act('selectOption', options, () => selectValues(values)); }
  selectText(options?: Opt<'selectText'>): Promise<void> { return this.#act('selectText', options); }
  setInputFiles(files: Opt<'setInputFiles'>, options?: Opt<'setInputFiles', 1>): Promise<void> { return this.#act('setInputFiles', options, () => inputFiles(files)); }
  dispatchEvent(type: string, eventInit?: unknown): Promise<void> { return this._frame._dispatch(this._subject, type, eventInit); }
  scrollIntoViewIfNeeded(options?: Opt<'scrollIntoViewIfNeeded'>): Promise<void> { return this.#act('scrollIntoViewIfNeeded', options); }
  screenshot(options?: Opt<'screenshot'>): Promise<any> { return screenshot(this._subject, options); }

  textContent(): Promise<string | null> { return this.#act('textContent'); }
  innerText(): Promise<string> { return this.#act('innerText'); }
  innerHTML(): Promise<string> { return this.#act('innerHTML'); }
  inputValue(options?: Opt<'inputValue'>): Promise<string> { return this.#act('inputValue', options); }
  getAttribute(name: string): Promise<string | null> { return this.#act('getAttribute', undefined, () => ({ name: text('name', name) }), [name]); }
  isVisible(): Promise<boolean> { return this.#act('isVisible'); }
  isHidden(): Promise<boolean> { return this.#act('isHidden'); }
  isEnabled(): Promise<boolean> { return this.#act('isEnabled'); }
  isDisabled(): Promise<boolean> { return this.#act('isDisabled'); }
  isEditable(): Promise<boolean> { return this.#act('isEditable'); }
  isChecked(): Promise<boolean> { return this.#act('isChecked'); }
  boundingBox(): Promise<{ x: number; y: number; width: number; height: number } | null> { return this.#act('boundingBox'); }

  $(selector: string, options?: { strict?: boolean }): Promise<ElementHandle | null> {
    return step('elementHandle.$', () => `elementHandle.$(${quote(selector)})`, async send =>
      handles.element(this._frame, await send('handle.querySelector', { handle: this._handle, selector, strict: options?.strict })));
  }
  $$(selector: string): Promise<ElementHandle[]> {
    return step('elementHandle.$$', () => `elementHandle.$$(${quote(selector)})`, async send => {
      const { handles: list } = await send<{ handles: HandleInit[] }>('handle.querySelectorAll', { handle: this._handle, selector });
      return list.map(h => new ElementHandle(this._frame, h));
    });
  }
  $eval(selector: string, code: unknown, arg?: unknown): Promise<any> {
    return onlyOne(arguments, 3) ?? step('elementHandle.$eval', () => `elementHandle.$eval(${quote(selector)})`, async send =>
      result(await send('handle.evalOnSelector', { handle: this._handle, selector, ...expression(code, arg) })));
  }
  $$eval(selector: string, code: unknown, arg?: unknown): Promise<any> {
    return onlyOne(arguments, 3) ?? step('elementHandle.$$eval', () => `elementHandle.$$eval(${quote(selector)})`, async send =>
      result(await send('handle.evalOnSelectorAll', { handle: this._handle, selector, ...expression(code, arg) })));
  }
  waitForSelector(selector: string, options?: Opt<'waitForSelector', 1>): Promise<ElementHandle | null> {
    const { state, strict } = (options ?? {}) as { state?: string; strict?: boolean };
    return step('elementHandle.waitForSelector', () => `elementHandle.waitForSelector(${quote(selector)})`, async send =>
      handles.element(this._frame, await send('handle.waitForSelector', { handle: this._handle, selector, state, strict, timeout: this._frame._timeouts.action(options) })), options);
  }
  waitForElementState(state: string, options?: { timeout?: number; signal?: AbortSignal }): Promise<void> {
    return step('elementHandle.waitForElementState', () => `elementHandle.waitForElementState(${quote(state)})`, async send => {
      await send('handle.waitForElementState', { handle: this._handle, state, timeout: this._frame._timeouts.action(options) });
    }, options);
  }
  contentFrame(): Promise<Frame | null> { return this.#frame('contentFrame'); }
  ownerFrame(): Promise<Frame | null> { return this.#frame('ownerFrame'); }

  #frame(method: string): Promise<Frame | null> {
    return step(`elementHandle.${method}`, () => `elementHandle.${method}()`, async send => {
      const { frame } = await send<{ frame: string | null }>(`handle.${method}`, { handle: this._handle });
      return frame ? this._frame._world.frames.get(frame) ?? null : null;
    });
  }
}

/** Converts the argument of selectOption to parameters. */
export function selectValues(values: unknown): { options: object[]; elements: string[] } {
  const options: object[] = [];
  const elements: string[] = [];
  for (const v of values === null || values === undefined ? [] : Array.isArray(values) ? values : [values]) {
    if (v instanceof ElementHandle)
      elements.push(v._handle);
    else if (typeof v === 'string')
      options.push({ valueOrLabel: v });
    else
      options.push(pick(v as object, ['value', 'label', 'index']));
  }
  return { options, elements };
}
