import { byId } from './dom.js';
import { isMac } from './platform.js';

/** Returns whether a key is for the page: no modifier but Shift, not in a field, and no dialog is open. */
export function isForPage(event: KeyboardEvent): boolean {
  const typed = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable], .monaco-editor');
  return !typed && !event.ctrlKey && !event.metaKey && !event.altKey && !document.querySelector('dialog[open]');
}

/** Lets a question mark, and `[data-keys]` elements, open the list of the page's keys. */
export function enableKeysHelp(): void {
  const open = (): void => {
    const help = byId<HTMLDialogElement>('keys-help');
    help.toggleAttribute('data-mac', isMac());
    help.showModal();
    help.scrollTop = 0; // its button, which gets the focus, is at the end
  };
  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-keys]')) open();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '?' || !isForPage(event)) return;
    event.preventDefault();
    open();
  });
}
