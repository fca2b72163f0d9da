import { mayNotify, play, SOUND } from './preferences.js';
import { read } from './storage.js';

/** An open takeover. */
export interface Call {
  id: string;
  reason: string;
  /** Somebody works on it. */
  claimed: boolean;
}

/** Announces new takeovers by notification, sound and the page's icon, as the person chose. */
export class Calling {
  #known: Set<string> | null = null;
  readonly #link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  readonly #icon = this.#link?.getAttribute('href') ?? '';

  /**
   * Compares the open takeovers with the last ones, and announces those that now need a person: new ones, and those whose person has left. Takeovers
   * from before this page was opened are not announced.
   */
  update(open: Call[], tells: boolean): void {
    const waiting = open.filter(({ claimed }) => !claimed);
    const fresh = this.#known ? waiting.filter(({ id }) => !this.#known?.has(id)) : [];
    this.#known = new Set(waiting.map(({ id }) => id));
    this.#badge(open.length > 0);
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

  /** A dot in the corner of the icon, which is another icon of the server. */
  #badge(waits: boolean): void {
    const href = waits ? (this.#link?.dataset.waiting ?? this.#icon) : this.#icon;
    if (this.#link && this.#link.getAttribute('href') !== href) this.#link.setAttribute('href', href);
  }
}
