import { path, post } from './api.js';
import { busy } from './menus.js';
import { notice } from './notices.js';

/** Copies text to the person's clipboard. Returns false if the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Copies an image (a PNG) to the person's clipboard. Returns false if the browser refuses, as it does without a secure context. */
export async function copyImage(image: Blob): Promise<boolean> {
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': image })]);
    return true;
  } catch {
    return false;
  }
}

/** Copies text through a selection, which also works without a secure context, for example with http in a local network. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'keys';
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  const focused = document.activeElement;
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return copied;
}

/**
 * Makes every `[data-link]` element copy a link for the person who will answer a takeover. The secret is known only when a link is created, so each
 * copy is a new link.
 */
export function enableTakeoverLinks(): void {
  document.addEventListener('click', (event) => {
    const element = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-link]') : null;
    if (!element) return;
    void busy(element, notice, async () => {
      const url = await linkFor(element.dataset);
      element.dataset.copiedLink = url;
      notice((await copyText(url)) ? 'Link copied' : url);
    });
  });
}

async function linkFor({ link = '', session = '', takeover = '' }: DOMStringMap): Promise<string> {
  if (link.includes('#')) return link;
  const made = await post<{ url: string }>(path`/v1/sessions/${session}/links`, { role: 'takeover', takeover });
  return made.url;
}

/** Makes every `[data-copy]` element copy its text when clicked. Without a text, it copies the code that is shown in its block. */
export function enableCopying(): void {
  document.addEventListener('click', (event) => {
    const element = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-copy]') : null;
    if (!element) return;
    void copyText(element.dataset.copy || shownCode(element)).then((copied) => notice(copied ? (element.dataset.copied ?? 'Copied') : 'Your browser did not allow copying.'));
  });
}

/** Returns the code that the element's block shows. */
function shownCode(element: Element): string {
  return element.closest('.code-block')?.querySelector('pre:not([hidden])')?.textContent ?? '';
}
