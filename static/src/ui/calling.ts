import { mayNotify, play, SOUND } from './preferences.js';
import { read } from './storage.js';

/** Somebody who is needed: an open takeover that nobody is on. */
export interface Call {
  id: string;
  reason: string;
}

/** Tells of new takeovers by notification, sound and the page's icon, as the person chose. */
export class Calling {
  #known: Set<string> | null = null;
  readonly #link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  readonly #icon = this.#link?.getAttribute('href') ?? '';

  /** Takes in who waits now, and tells of who is new. What waited before this page was opened is no news. */
  update(waiting: Call[], tells: boolean): void {
    const fresh = this.#known ? waiting.filter(({ id }) => !this.#known?.has(id)) : [];
    this.#known = new Set([...(this.#known ?? []), ...waiting.map(({ id }) => id)]);
    this.#badge(waiting.length > 0);
    if (!fresh.length || !tells) return;
    if (read(SOUND) === 'on') play();
    if (!mayNotify()) return;
    for (const { id, reason } of fresh) {
      const notification = new Notification('A person is needed', { body: reason, tag: id });
      notification.addEventListener('click', () => {
        window.focus();
        location.assign(`/takeover/${encodeURIComponent(id)}`);
      });
    }
  }

  /** A dot in the icon's corner, drawn by the server's other icon. */
  #badge(waits: boolean): void {
    const href = waits ? (this.#link?.dataset.waiting ?? this.#icon) : this.#icon;
    if (this.#link && this.#link.getAttribute('href') !== href) this.#link.setAttribute('href', href);
  }
}
