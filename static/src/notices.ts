import { byId, h } from './dom.js';

/** How long (ms) a message stays. */
const STAY = 5_000;
/** Messages shown at once; the oldest makes room. */
const MOST = 3;

/** Says something in passing, at the bottom of the window. */
export function notice(text: string): void {
  const host = byId('toasts');
  for (const old of host.children) if (old.textContent === text) old.remove();
  while (host.children.length >= MOST) host.firstElementChild?.remove();
  // Modal dialogs cover everything that is not in the top layer with them.
  const dialog = document.querySelector<HTMLDialogElement>('dialog[open]');
  const element = h('div', { class: 'toast', text });
  (dialog ? (dialog.querySelector('.toasts') ?? dialog.appendChild(h('div', { class: 'toasts', role: 'status' }))) : host).append(element);
  window.setTimeout(() => element.remove(), STAY);
}
