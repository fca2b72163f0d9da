import type * as pw from 'playwright-core';
import { act, evaluateOn, filePayloads, inputFiles, perform, screenshot, type Extra, type Subject } from './actions.ts';
import { quietly, step } from '../core/call.ts';
import { Disposable } from './events.ts';
import type { Frame } from './frame.ts';
import { ElementHandle, handles, JSHandle, selectValues } from './handle.ts';
import { hide } from './object.ts';
import type { Page } from './page.ts';
import { by, filters, inner, quote, type FilterOptions, type Text } from '../core/selectors.ts';
import { chain, spell, spellFilters, spellNth, spellSelector } from '../core/spelling.ts';
import { expression, result, text } from '../core/values.ts';

/** The options of a Playwright method: its n-th parameter. */
type Opt<K extends keyof pw.Locator, N extends number = 0> = pw.Locator[K] extends (...a: infer A) => unknown ? A[N] : never;

/** The prefix of a selector for elements inside a frame. */
const enter = ' >> internal:control=enter-frame >> ';

/** Writes a style as CSS. */
function css(style: string | Record<string, string | number> | undefined): string | undefined {
  if (typeof style !== 'object')
    return style;
  return Object.entries(style).map(([name, value]) => `${name.replace(/[A-Z]/g, c => '-' + c.toLowerCase())}: ${value}`).join('; ');
}

/** A way to find elements. It looks them up again each time it is used. */
export class Locator {
  /** @internal */
  readonly _frame: Frame;
  /** @internal */
  readonly _selector: string;
  /** The locator, written as code. @internal */
  readonly _text: string;
  #description: string | undefined;

  constructor(frame: Frame, selector: string, text: string, options?: FilterOptions) {
    this._frame = frame;
    this._selector = selector + filters(options, frame);
    this._text = text;
    hide(this, '_frame', '_text');
  }

  #with(selector: string, text: string, options?: FilterOptions): Locator {
    return new Locator(this._frame, `${this._selector} >> ${selector}`, chain(this._text, text), options);
  }

  /** @internal */
  get _subject(): Subject {
    return {
      target: { frame: this._frame._guid, selector: this._selector, strict: true },
      frame: this._frame,
      prefix: 'locator',
      title: (method, args) => `${this}.${method}(${args.map(quote).join(', ')})`,
    };
  }

  #act(method: string, options?: object, extra?: Extra, shown?: readonly unknown[], name?: string): Promise<any> {
    return act(this._subject, method, options, extra, shown, name);
  }

  page(): Page { return this._frame.page(); }
  toString(): string { return this.#description ?? this._text; }

  // Other locators.
  locator(selector: string | Locator, options?: FilterOptions): Locator {
    if (typeof selector === 'string')
      return this.#with(selector, spellSelector(selector, options), options);
    const chained = `internal:chain=${inner(selector, this._frame, 'Locators must belong to the same frame.')}`;
    return this.#with(chained, chain(`locator(${selector._text})`, spellFilters(options)), options);
  }
  filter(options?: FilterOptions): Locator {
    return new Locator(this._frame, this._selector, chain(this._text, spellFilters(options)), options);
  }
  and(other: Locator): Locator { return this.#with(`internal:and=${inner(other, this._frame, 'Locators must belong to the same frame.')}`, `and(${other._text})`); }
  or(other: Locator): Locator { return this.#with(`internal:or=${inner(other, this._frame, 'Locators must belong to the same frame.')}`, `or(${other._text})`); }
  visible(): Locator { return this.filter({ visible: true }); }
  within(locator: Locator): Locator { return locator.locator(this); }
  first(): Locator { return this.#with('nth=0', 'first()'); }
  last(): Locator { return this.#with('nth=-1', 'last()'); }
  nth(index: number): Locator { return this.#with(`nth=${index}`, spellNth(index)); }
  describe(description: string): Locator {
    const locator = this.#with(`internal:describe=${JSON.stringify(description)}`, '');
    locator.#description = description;
    return locator;
  }
  description(): string | null { return this.#description ?? null; }
  getByText(text: Text, o?: { exact?: boolean }): Locator { return this.#with(by.text(text, o?.exact), spell('getByText', text, o)); }
  getByLabel(text: Text, o?: { exact?: boolean }): Locator { return this.#with(by.label(text, o?.exact), spell('getByLabel', text, o)); }
  getByPlaceholder(text: Text, o?: { exact?: boolean }): Locator { return this.#with(by.placeholder(text, o?.exact), spell('getByPlaceholder', text, o)); }
  getByAltText(text: Text, o?: { exact?: boolean }): Locator { return this.#with(by.altText(text, o?.exact), spell('getByAltText', text, o)); }
  getByTitle(text: Text, o?: { exact?: boolean }): Locator { return this.#with(by.title(text, o?.exact), spell('getByTitle', text, o)); }
  getByTestId(id: Text): Locator { return this.#with(by.testId(id), spell('getByTestId', id)); }
  getByRole(role: Opt<'getByRole'>, o?: Opt<'getByRole', 1>): Locator { return this.#with(by.role(role, o), spell('getByRole', role, o)); }
  frameLocator(selector: string): FrameLocator {
    return new FrameLocator(this._frame, `${this._selector} >> ${selector}`, chain(this._text, spellSelector(selector)));
  }
  contentFrame(): FrameLocator { return new FrameLocator(this._frame, this._selector, this._text, this); }

  // Actions.
  click(options?: Opt<'click'>): Promise<void> { return this.#act('click', options); }
  dblclick(options?: Opt<'dblclick'>): Promise<void> { return this.#act('dblclick', options); }
  hover(options?: Opt<'hover'>): Promise<void> { return this.#act('hover', options); }
  tap(options?: Opt<'tap'>): Promise<void> { return this.#act('tap', options); }
  check(options?: Opt<'check'>): Promise<void> { return this.#act('check', options); }
  uncheck(options?: Opt<'uncheck'>): Promise<void> { return this.#act('uncheck', options); }
  setChecked(checked: boolean, options?: Opt<'setChecked', 1>): Promise<void> { return this.#act(checked ? 'check' : 'uncheck', options, {}, [checked], 'setChecked'); }
  fill(value: string, options?: Opt<'fill', 1>): Promise<void> { return this.#act('fill', options, () => ({ value: text('value', value) }), [value]); }
  clear(options?: Opt<'clear'>): Promise<void> { return this.#act('fill', options, { value: '' }, [], 'clear'); }
  type(value: string, options?: Opt<'type', 1>): Promise<void> { return this.#act('type', options, () => ({ text: text('text', value) }), [value]); }
  pressSequentially(value: string, options?: Opt<'pressSequentially', 1>): Promise<void> { return this.#act('type', options, () => ({ text: text('text', value) }), [value], 'pressSequentially'); }
  press(key: string, options?: Opt<'press', 1>): Promise<void> { return this.#act('press', options, () => ({ key: text('key', key) }), [key]); }
  focus(options?: Opt<'focus'>): Promise<void> { return this.#act('focus', options); }
  blur(options?: Opt<'blur'>): Promise<void> { return this.#act('blur', options); }
  selectOption(values: Opt<'selectOption'> | ElementHandle | ElementHandle[], options?: Opt<'selectOption', 1>): Promise<string[]> {
    return this.#act('selectOption', options, () => selectValues(values));
  }
  selectText(options?: Opt<'selectText'>): Promise<void> { return this.#act('selectText', options); }
  setInputFiles(files: Opt<'setInputFiles'>, options?: Opt<'setInputFiles', 1>): Promise<void> {
    return this.#act('setInputFiles', options, () => inputFiles(files));
  }
  dispatchEvent(type: string, eventInit?: unknown, options?: Opt<'dispatchEvent', 2>): Promise<void> {
    return this._frame._dispatch(this._subject, type, eventInit, options);
  }
  scrollIntoViewIfNeeded(options?: Opt<'scrollIntoViewIfNeeded'>): Promise<void> { return this.#act('scrollIntoViewIfNeeded', options); }
  dragTo(target: Locator, options?: Opt<'dragTo', 1>): Promise<void> {
    return this._frame._drag('locator.dragTo', `${this}.dragTo(${target})`, this._selector, target._selector, { ...options, strict: true });
  }
  screenshot(options?: Opt<'screenshot'>): Promise<any> { return screenshot(this._subject, options); }
  waitFor(options?: Opt<'waitFor'>): Promise<void> {
    const state = (options as { state?: string } | undefined)?.state ?? 'visible';
    return step('locator.waitFor', () => `${this}.waitFor(${state === 'visible' ? '' : quote(state)})`, async send => {
      await send('frame.waitForSelector', {
        ...this._subject.target, state, omitReturnValue: true, timeout: this._frame._timeouts.action(options),
      });
    }, options);
  }

  drop(payload: { files?: unknown; data?: Record<string, string> }, options?: { position?: { x: number; y: number }; timeout?: number; signal?: AbortSignal }): Promise<void> {
    return step('locator.drop', () => `${this}.drop()`, async send => {
      if (payload.files === undefined && !Object.keys(payload.data ?? {}).length)
        throw new Error('At least one of "files" or "data" must be provided.');
      await perform(send, this._subject, 'drop', options, { files: await filePayloads(send, payload.files ?? []), data: payload.data });
    }, options);
  }
  highlight(options?: { style?: string | Record<string, string | number> }): Promise<Disposable> {
    return step('locator.highlight', () => `${this}.highlight()`, async send => {
      await send('frame.highlight', { ...this._every, style: css(options?.style) });
      return new Disposable(() => quietly('frame.hideHighlight', this._every));
    });
  }
  hideHighlight(): Promise<void> {
    return step('locator.hideHighlight', () => `${this}.hideHighlight()`, async send => { await send('frame.hideHighlight', this._every); });
  }
  /** Returns the locator that a person would choose for the element. */
  normalize(): Promise<Locator> {
    return step('locator.normalize', () => `${this}.normalize()`, async send => {
      const { selector, text } = await send<{ selector: string; text: string }>('frame.normalize', { ...this._subject.target, timeout: this._frame._timeouts.action() });
      return new Locator(this._frame.page().mainFrame(), selector, text);
    });
  }
  waitForFunction(code: unknown, arg?: unknown, options?: { timeout?: number; signal?: AbortSignal }): Promise<void> {
    return step('locator.waitForFunction', () => `${this}.waitForFunction()`, async send => {
      await send('frame.waitForFunctionOn', { ...this._subject.target, ...expression(code, arg), timeout: this._frame._timeouts.action(options) });
    }, options);
  }

  // Reading.
  textContent(options?: Opt<'textContent'>): Promise<string | null> { return this.#act('textContent', options); }
  innerText(options?: Opt<'innerText'>): Promise<string> { return this.#act('innerText', options); }
  innerHTML(options?: Opt<'innerHTML'>): Promise<string> { return this.#act('innerHTML', options); }
  inputValue(options?: Opt<'inputValue'>): Promise<string> { return this.#act('inputValue', options); }
  getAttribute(name: string, options?: Opt<'getAttribute', 1>): Promise<string | null> { return this.#act('getAttribute', options, () => ({ name: text('name', name) }), [name]); }
  isVisible(options?: Opt<'isVisible'>): Promise<boolean> { return this.#act('isVisible', options); }
  isHidden(options?: Opt<'isHidden'>): Promise<boolean> { return this.#act('isHidden', options); }
  isEnabled(options?: Opt<'isEnabled'>): Promise<boolean> { return this.#act('isEnabled', options); }
  isDisabled(options?: Opt<'isDisabled'>): Promise<boolean> { return this.#act('isDisabled', options); }
  isEditable(options?: Opt<'isEditable'>): Promise<boolean> { return this.#act('isEditable', options); }
  isChecked(options?: Opt<'isChecked'>): Promise<boolean> { return this.#act('isChecked', options); }
  count(): Promise<number> { return act({ ...this._subject, target: this._every }, 'count'); }
  allInnerTexts(): Promise<string[]> { return act({ ...this._subject, target: this._every }, 'allInnerTexts'); }
  allTextContents(): Promise<string[]> { return act({ ...this._subject, target: this._every }, 'allTextContents'); }
  boundingBox(options?: Opt<'boundingBox'>): Promise<{ x: number; y: number; width: number; height: number } | null> { return this.#act('boundingBox', options); }
  ariaSnapshot(options?: Opt<'ariaSnapshot'>): Promise<string> { return this.#act('ariaSnapshot', options); }
  ariaSnapshotJSON(options?: Opt<'ariaSnapshotJSON'>): Promise<any> { return this.#act('ariaSnapshotJSON', options); }
  async all(): Promise<Locator[]> { return Array.from({ length: await this.count() }, (_, i) => this.nth(i)); }

  // Functions in the page.
  evaluate(code: unknown, arg?: unknown, options?: { timeout?: number; signal?: AbortSignal }): Promise<any> { return evaluateOn(this._subject, code, arg, options); }
  evaluateAll(code: unknown, arg?: unknown): Promise<any> {
    return step('locator.evaluateAll', () => `${this}.evaluateAll()`, async send =>
      result(await send('frame.evalOnSelectorAll', { ...this._every, ...expression(code, arg) })));
  }
  evaluateHandle(code: unknown, arg?: unknown, options?: { timeout?: number; signal?: AbortSignal }): Promise<JSHandle> {
    return step('locator.evaluateHandle', () => `${this}.evaluateHandle()`, async send =>
      handles.make(this._frame, await send('frame.evaluateOnElementHandle', { ...this._subject.target, ...expression(code, arg), timeout: this._frame._timeouts.action(options) })), options);
  }
  elementHandle(options?: Opt<'elementHandle'>): Promise<ElementHandle> {
    return step('locator.elementHandle', () => `${this}.elementHandle()`, async send => {
      const answer = await send<any>('frame.waitForSelector', { ...this._subject.target, state: 'attached', timeout: this._frame._timeouts.action(options) });
      return handles.make(this._frame, answer) as ElementHandle;
    });
  }
  elementHandles(): Promise<ElementHandle[]> {
    return step('locator.elementHandles', () => `${this}.elementHandles()`, async send => {
      const { handles: list } = await send<{ handles: any[] }>('frame.querySelectorAll', this._every);
      return list.map(h => handles.make(this._frame, h) as ElementHandle);
    });
  }

  /** Returns the target of operations on all elements, not just one. @internal */
  get _every(): object { return { frame: this._frame._guid, selector: this._selector }; }

  /** @internal */
  toJSON(): object { return { _type: 'Locator', _selector: this._selector }; }
}

/** Locates elements in the content of an iframe. */
export class FrameLocator {
  #frame: Frame;
  #selector: string;
  /** The frame's element, written as code. */
  #text: string;
  #owner: Locator | undefined;

  constructor(frame: Frame, selector: string, text: string, owner?: Locator) {
    this.#frame = frame;
    this.#selector = selector;
    this.#text = text;
    this.#owner = owner;
  }

  #in(selector: string, text: string, options?: FilterOptions): Locator {
    return new Locator(this.#frame, `${this.#selector}${enter}${selector}`, `${this.#text}.contentFrame().${text}`, options);
  }

  locator(selector: string | Locator, options?: FilterOptions): Locator {
    if (typeof selector === 'string')
      return this.#in(selector, spellSelector(selector, options), options);
    inner(selector, this.#frame, 'Locators must belong to the same frame.');
    return this.#in(selector._selector, chain(`locator(${selector._text})`, spellFilters(options)), options);
  }
  getByText(text: Text, o?: { exact?: boolean }): Locator { return this.#in(by.text(text, o?.exact), spell('getByText', text, o)); }
  getByLabel(text: Text, o?: { exact?: boolean }): Locator { return this.#in(by.label(text, o?.exact), spell('getByLabel', text, o)); }
  getByPlaceholder(text: Text, o?: { exact?: boolean }): Locator { return this.#in(by.placeholder(text, o?.exact), spell('getByPlaceholder', text, o)); }
  getByAltText(text: Text, o?: { exact?: boolean }): Locator { return this.#in(by.altText(text, o?.exact), spell('getByAltText', text, o)); }
  getByTitle(text: Text, o?: { exact?: boolean }): Locator { return this.#in(by.title(text, o?.exact), spell('getByTitle', text, o)); }
  getByTestId(id: Text): Locator { return this.#in(by.testId(id), spell('getByTestId', id)); }
  getByRole(role: Opt<'getByRole'>, o?: Opt<'getByRole', 1>): Locator { return this.#in(by.role(role, o), spell('getByRole', role, o)); }
  frameLocator(selector: string): FrameLocator {
    return new FrameLocator(this.#frame, `${this.#selector}${enter}${selector}`, `${this.#text}.contentFrame().${spellSelector(selector)}`);
  }
  owner(): Locator { return this.#owner ?? new Locator(this.#frame, this.#selector, this.#text); }
  first(): FrameLocator { return this.#nth(0, 'first()'); }
  last(): FrameLocator { return this.#nth(-1, 'last()'); }
  nth(index: number): FrameLocator { return this.#nth(index, spellNth(index)); }

  #nth(index: number, text: string): FrameLocator {
    return new FrameLocator(this.#frame, `${this.#selector} >> nth=${index}`, `${this.#text}.${text}`);
  }
}
