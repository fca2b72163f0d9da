import type { Extra } from './actions.ts';
import { pick, step } from '../core/call.ts';
import { hide } from './object.ts';
import type { Page } from './page.ts';
import { quote } from '../core/selectors.ts';
import { text } from '../core/values.ts';

/** A device of a page; each method is an operation of the same name. */
class Device {
  readonly #page: Page;
  readonly #name: string;

  constructor(page: Page, name: string) {
    this.#page = page;
    this.#name = name;
    hide(this);
  }

  /** @internal */
  _do(method: string, params: Extra, ...shown: unknown[]): Promise<void> {
    const name = `${this.#name}.${method}`;
    return step(name, () => `${name}(${shown.map(quote).join(', ')})`, async send => {
      await send(name, { page: this.#page._guid, ...typeof params === 'function' ? params() : params });
    });
  }
}

/** A page's keyboard. */
export class Keyboard extends Device {
  constructor(page: Page) { super(page, 'keyboard'); }

  down(key: string): Promise<void> { return this._do('down', () => ({ key: text('key', key) }), key); }
  up(key: string): Promise<void> { return this._do('up', () => ({ key: text('key', key) }), key); }
  press(key: string, options?: { delay?: number }): Promise<void> { return this._do('press', () => ({ key: text('key', key), ...pick(options, ['delay']) }), key); }
  insertText(value: string): Promise<void> { return this._do('insertText', () => ({ text: text('text', value) }), value); }
  type(value: string, options?: { delay?: number }): Promise<void> { return this._do('type', () => ({ text: text('text', value), ...pick(options, ['delay']) }), value); }
}

type Button = 'left' | 'right' | 'middle';

/** A page's mouse. */
export class Mouse extends Device {
  constructor(page: Page) { super(page, 'mouse'); }

  move(x: number, y: number, options?: { steps?: number }): Promise<void> { return this._do('move', { x, y, ...pick(options, ['steps']) }, x, y); }
  down(options?: { button?: Button; clickCount?: number }): Promise<void> { return this._do('down', pick(options, ['button', 'clickCount'])); }
  up(options?: { button?: Button; clickCount?: number }): Promise<void> { return this._do('up', pick(options, ['button', 'clickCount'])); }
  click(x: number, y: number, options?: { button?: Button; clickCount?: number; delay?: number }): Promise<void> {
    return this._do('click', { x, y, ...pick(options, ['button', 'clickCount', 'delay']) }, x, y);
  }
  dblclick(x: number, y: number, options?: { button?: Button; delay?: number }): Promise<void> {
    return this._do('dblclick', { x, y, ...pick(options, ['button', 'delay']) }, x, y);
  }
  wheel(deltaX: number, deltaY: number): Promise<void> { return this._do('wheel', { deltaX, deltaY }, deltaX, deltaY); }
}

/** A page's touchscreen. */
export class Touchscreen extends Device {
  constructor(page: Page) { super(page, 'touchscreen'); }

  tap(x: number, y: number): Promise<void> { return this._do('tap', { x, y }, x, y); }
}
