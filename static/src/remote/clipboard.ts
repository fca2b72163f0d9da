import { messageOf } from '../ui/api.js';
import { copyImage, copyText } from '../ui/copying.js';
import type { Live } from './live.js';
import { notice } from '../ui/notices.js';
import { uploadAll } from './uploads.js';

/** The largest text (bytes) that the server accepts at once. */
export const PASTE_MAX = 512 << 10;

/** Returns the content to paste. An image counts only if there is no text, because browsers provide both for content that was copied from a page. */
export function toPaste(data: { getData(type: string): string; files: Iterable<File> } | null): { text: string } | { image: File } | { files: number } | null {
  const text = data?.getData('text/plain') ?? '';
  if (text !== '') return { text };
  const files = [...(data?.files ?? [])];
  const [file] = files;
  if (!file) return null;
  return files.length === 1 && file.type.startsWith('image/') ? { image: file } : { files: files.length };
}

/** Copies what the remote page copies, a text or an image, to the person's clipboard, and pastes the person's content into the remote page. */
export class Clipboard {
  constructor(private readonly live: Live) {
    live.on('clipboard', ({ text, image }) => void (image ? this.#keepImage(image) : this.#keep(text)));
    for (const button of document.querySelectorAll<HTMLElement>('[data-clipboard]')) {
      button.addEventListener('click', () => live.input({ type: 'clipboard', action: button.dataset.clipboard === 'cut' ? 'cut' : 'copy' }));
    }
  }

  /** Pastes the content of a paste event. */
  take(data: DataTransfer | null): void {
    const what = toPaste(data);
    if (!what) return;
    if ('text' in what) this.text(what.text);
    else if ('image' in what) void this.#image(what.image);
    else notice('Files cannot be pasted here. Drop them on the page.');
  }

  text(text: string): void {
    if (text === '') return;
    if (new TextEncoder().encode(text).length > PASTE_MAX) return notice('This is too much to paste at once.');
    this.live.input({ type: 'clipboard', action: 'paste', text });
  }

  async #image(file: File): Promise<void> {
    try {
      const [image] = await uploadAll(this.live.session, [file], () => {});
      if (image) this.live.input({ type: 'clipboard', action: 'paste', image });
    } catch (error) {
      notice(messageOf(error));
    }
  }

  /** Writes text to the person's clipboard. If the browser does not let a page write without a press, a button is offered. */
  async #keep(text: string): Promise<void> {
    if (await copyText(text)) return notice('Copied from the remote page');
    notice('The remote page copied something', { label: 'Copy it here', run: () => void copyText(text).then((copied) => notice(copied ? 'Copied' : 'Your browser did not allow copying.')) });
  }
  /** Does the same with an image (a PNG in base64). */
  async #keepImage(base64: string): Promise<void> {
    const image = new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type: 'image/png' });
    if (await copyImage(image)) return notice('Image copied from the remote page');
    notice('The remote page copied an image', { label: 'Copy it here', run: () => void copyImage(image).then((copied) => notice(copied ? 'Copied' : 'Your browser did not allow copying.')) });
  }
}
