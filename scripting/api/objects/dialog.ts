import { step } from '../core/call.ts';
import type { Page } from './page.ts';

/** A dialog, as the server reports it. */
export interface DialogInit { dialog: string; type: string; message: string; defaultValue: string }

/** A dialog of the page, for a script that listens for dialogs. */
export class Dialog {
  #page: Page;
  #init: DialogInit;

  constructor(page: Page, init: DialogInit) {
    this.#page = page;
    this.#init = init;
  }

  page(): Page { return this.#page; }
  type(): string { return this.#init.type; }
  message(): string { return this.#init.message; }
  defaultValue(): string { return this.#init.defaultValue; }
  accept(promptText?: string): Promise<void> {
    return step('dialog.accept', () => 'dialog.accept()', async send => { await send('dialog.accept', { dialog: this.#init.dialog, text: promptText }); });
  }
  dismiss(): Promise<void> {
    return step('dialog.dismiss', () => 'dialog.dismiss()', async send => { await send('dialog.dismiss', { dialog: this.#init.dialog }); });
  }
}
