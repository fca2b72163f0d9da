import { step } from '../core/call.ts';
import type { Page } from './page.ts';
import { expression, result, text } from '../core/values.ts';
import { quote } from '../core/selectors.ts';

/** The storage of the page's origin. */
export class WebStorage {
  #page: Page;
  #kind: 'localStorage' | 'sessionStorage';

  constructor(page: Page, kind: 'localStorage' | 'sessionStorage') {
    this.#page = page;
    this.#kind = kind;
  }

  clear(): Promise<void> { return this.#run('clear', []); }
  getItem(name: string): Promise<string | null> { return this.#run('getItem', [['name', name]]); }
  removeItem(name: string): Promise<void> { return this.#run('removeItem', [['name', name]]); }
  setItem(name: string, value: string): Promise<void> { return this.#run('setItem', [['name', name], ['value', value]]); }
  items(): Promise<{ name: string; value: string }[]> { return this.#run('items', []); }

  #run(method: string, args: [string, unknown][]): Promise<any> {
    const shown = args.map(([, value]) => quote(value)).join(', ');
    return step(`webStorage.${method}`, () => `page.${this.#kind}.${method}(${shown})`, async send => {
      const given = args.map(([name, value]) => text(name, value));
      const body = method === 'items' ? 'Object.entries(s).map(([name, value]) => ({ name, value }))' : `s.${method}(...${JSON.stringify(given)})`;
      return result(await send('frame.evaluate', { frame: this.#page.mainFrame()._guid, ...expression(`(s => ${body})(window.${this.#kind})`, undefined) })) ?? (method === 'getItem' ? null : undefined);
    });
  }
}
