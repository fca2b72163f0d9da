import { byId, h } from './dom.js';

/** How long (ms) a message stays, and a message with a button. */
const STAY = 5_000;
const STAY_TO_PRESS = 20_000;
/** Maximum number of messages; a new one replaces the oldest. */
const MOST = 3;

/** Shows a message at the bottom of the window, with at most one button. */
export function notice(text: string, action?: { label: string; run(): void }): void {
  const host = byId('toasts');
  for (const old of host.children) if (old.firstChild?.textContent === text) old.remove();
  while (host.children.length >= MOST) host.firstElementChild?.remove();
  // Modal dialogs cover everything outside the top layer.
  const dialog = document.querySelector<HTMLDialogElement>('dialog[open]');
  const element = h('div', { class: 'toast' }, text);
  (dialog ? (dialog.querySelector('.toasts') ?? dialog.appendChild(h('div', { class: 'toasts', role: 'status' }))) : host).append(element);
  if (action) {
    const { label, run } = action;
    element.append(h('button', { type: 'button', class: 'button', text: label, on: { click: () => (element.remove(), run()) } }));
  }
  window.setTimeout(() => element.remove(), action ? STAY_TO_PRESS : STAY);
}
