/**
 * What a script has in scope, as declarations for the editor: only what exists,
 * so that nothing is offered that would then fail.
 */
export const SCRIPT_TYPES = `
type WaitUntil = 'load' | 'domcontentloaded' | 'networkidle' | 'commit';
type AriaRole = 'alert' | 'button' | 'cell' | 'checkbox' | 'combobox' | 'dialog' | 'form' | 'grid' | 'heading' | 'img' | 'link' | 'list' | 'listbox' | 'listitem' | 'main' | 'menu' | 'menuitem' | 'navigation' | 'option' | 'progressbar' | 'radio' | 'radiogroup' | 'region' | 'row' | 'search' | 'searchbox' | 'slider' | 'spinbutton' | 'status' | 'switch' | 'tab' | 'table' | 'tablist' | 'tabpanel' | 'textbox' | 'toolbar' | 'tree' | 'treeitem' | (string & {});
interface Timeout { /** In ms; 0 waits for ever. */ timeout?: number }
interface ActionOptions extends Timeout { force?: boolean; trial?: boolean; position?: { x: number; y: number }; modifiers?: ('Alt' | 'Control' | 'ControlOrMeta' | 'Meta' | 'Shift')[] }
interface ClickOptions extends ActionOptions { button?: 'left' | 'middle' | 'right'; clickCount?: number; delay?: number }
interface ByText { exact?: boolean }
interface ByRole extends ByText { name?: string | RegExp; checked?: boolean; disabled?: boolean; expanded?: boolean; includeHidden?: boolean; level?: number; pressed?: boolean; selected?: boolean }
interface ScreenshotOptions extends Timeout { type?: 'png' | 'jpeg'; quality?: number; fullPage?: boolean; omitBackground?: boolean; clip?: { x: number; y: number; width: number; height: number } }

interface Finds {
  locator(selector: string, options?: { hasText?: string | RegExp; hasNotText?: string | RegExp; has?: Locator; hasNot?: Locator }): Locator;
  getByRole(role: AriaRole, options?: ByRole): Locator;
  getByText(text: string | RegExp, options?: ByText): Locator;
  getByLabel(text: string | RegExp, options?: ByText): Locator;
  getByPlaceholder(text: string | RegExp, options?: ByText): Locator;
  getByAltText(text: string | RegExp, options?: ByText): Locator;
  getByTitle(text: string | RegExp, options?: ByText): Locator;
  getByTestId(id: string | RegExp): Locator;
}

/** A way to find an element, found anew at each use. */
interface Locator extends Finds {
  click(options?: ClickOptions): Promise<void>;
  dblclick(options?: ClickOptions): Promise<void>;
  hover(options?: ActionOptions): Promise<void>;
  fill(value: string, options?: ActionOptions): Promise<void>;
  type(text: string, options?: Timeout & { delay?: number }): Promise<void>;
  press(key: string, options?: Timeout & { delay?: number }): Promise<void>;
  check(options?: ActionOptions): Promise<void>;
  uncheck(options?: ActionOptions): Promise<void>;
  selectOption(values: string | string[] | { value?: string; label?: string; index?: number }, options?: ActionOptions): Promise<string[]>;
  focus(options?: Timeout): Promise<void>;
  waitFor(options?: Timeout & { state?: 'attached' | 'detached' | 'visible' | 'hidden' }): Promise<void>;
  textContent(options?: Timeout): Promise<string | null>;
  innerText(options?: Timeout): Promise<string>;
  inputValue(options?: Timeout): Promise<string>;
  getAttribute(name: string, options?: Timeout): Promise<string | null>;
  isVisible(): Promise<boolean>;
  isEnabled(options?: Timeout): Promise<boolean>;
  isChecked(options?: Timeout): Promise<boolean>;
  count(): Promise<number>;
  first(): Locator;
  last(): Locator;
  nth(index: number): Locator;
  filter(options?: { hasText?: string | RegExp; hasNotText?: string | RegExp; has?: Locator; hasNot?: Locator }): Locator;
}

interface Page extends Finds {
  goto(url: string, options?: Timeout & { waitUntil?: WaitUntil; referer?: string }): Promise<unknown>;
  reload(options?: Timeout & { waitUntil?: WaitUntil }): Promise<unknown>;
  goBack(options?: Timeout & { waitUntil?: WaitUntil }): Promise<unknown>;
  goForward(options?: Timeout & { waitUntil?: WaitUntil }): Promise<unknown>;
  url(): string;
  title(): Promise<string>;
  content(): Promise<string>;
  click(selector: string, options?: ClickOptions): Promise<void>;
  dblclick(selector: string, options?: ClickOptions): Promise<void>;
  fill(selector: string, value: string, options?: ActionOptions): Promise<void>;
  type(selector: string, text: string, options?: Timeout & { delay?: number }): Promise<void>;
  press(selector: string, key: string, options?: Timeout & { delay?: number }): Promise<void>;
  textContent(selector: string, options?: Timeout): Promise<string | null>;
  isVisible(selector: string): Promise<boolean>;
  waitForSelector(selector: string, options?: Timeout & { state?: 'attached' | 'detached' | 'visible' | 'hidden' }): Promise<unknown>;
  waitForURL(url: string | RegExp | ((url: URL) => boolean), options?: Timeout & { waitUntil?: WaitUntil }): Promise<void>;
  waitForLoadState(state?: 'load' | 'domcontentloaded' | 'networkidle', options?: Timeout): Promise<void>;
  waitForTimeout(ms: number): Promise<void>;
  screenshot(options?: ScreenshotOptions): Promise<Uint8Array>;
  evaluate<R, A = unknown>(fn: string | ((arg: A) => R | Promise<R>), arg?: A): Promise<R>;
  readonly keyboard: { down(key: string): Promise<void>; up(key: string): Promise<void>; press(key: string, options?: { delay?: number }): Promise<void>; type(text: string, options?: { delay?: number }): Promise<void>; insertText(text: string): Promise<void> };
  readonly mouse: { move(x: number, y: number, options?: { steps?: number }): Promise<void>; down(options?: { button?: 'left' | 'middle' | 'right'; clickCount?: number }): Promise<void>; up(options?: { button?: 'left' | 'middle' | 'right'; clickCount?: number }): Promise<void>; click(x: number, y: number, options?: { button?: 'left' | 'middle' | 'right'; clickCount?: number; delay?: number }): Promise<void>; dblclick(x: number, y: number): Promise<void>; wheel(deltaX: number, deltaY: number): Promise<void> };
}

interface BrowserContext { newPage(): Promise<Page>; pages(): Page[] }
interface Browser { contexts(): BrowserContext[]; newPage(): Promise<Page>; version(): string }

interface TakeoverResult {
  outcome: 'done';
  /** What the person wrote, if anything. */
  note?: string;
  durationMs: number;
  by: string;
  changes: { urlBefore: string; urlAfter: string; cookiesSet: string[]; titleAfter: string };
}

/** The session's page. */
declare const page: Page;
declare const context: BrowserContext;
declare const browser: Browser;
/** What was sent with the script. */
declare const args: any;

/**
 * Hands the browser to a person and waits until they are done.
 * Rejects with TakeoverFailedError, TakeoverTimeoutError or TakeoverCancelledError.
 */
declare function requestTakeover(reason: string, options?: { /** In ms, until nobody is waited for any more. */ timeout?: number; /** Done by itself when this selector or address is there. */ until?: string | RegExp | (() => Promise<boolean>); note?: string }): Promise<TakeoverResult>;
`;
