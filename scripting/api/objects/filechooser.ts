import { inputFiles, perform } from './actions.ts';
import { step } from '../core/call.ts';
import type { ElementHandle } from './handle.ts';
import { hide } from './object.ts';
import type { Page } from './page.ts';

/** A page's request for files, which the script answers. */
export class FileChooser {
  #page: Page;
  #element: ElementHandle;
  #multiple: boolean;

  constructor(page: Page, element: ElementHandle, multiple: boolean) {
    this.#page = page;
    this.#element = element;
    this.#multiple = multiple;
    hide(this);
  }

  page(): Page { return this.#page; }
  element(): ElementHandle { return this.#element; }
  isMultiple(): boolean { return this.#multiple; }
  setFiles(files: unknown, options?: { noWaitAfter?: boolean; timeout?: number; signal?: AbortSignal }): Promise<void> {
    return step('fileChooser.setFiles', () => 'fileChooser.setFiles()', send =>
      perform(send, this.#element._subject, 'setInputFiles', options, () => inputFiles(files)), options);
  }
}
