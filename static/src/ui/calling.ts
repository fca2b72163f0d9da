import { mayNotify, play, SOUND } from './preferences.js';
import { read, write } from './storage.js';

/** Storage key of the takeovers that waited when a page last announced. The next page that announces continues from there. */
const KNOWN = 'takeover.known';

/** An open takeover. */
export interface Call {
  id: string;
  reason: string;
  /** A person is working on it. */
  claimed: boolean;
}

/** Announces new takeovers by notification, sound and the page's icon, as the person chose. */
export class Calling {
  /** The takeovers that were waiting at the start, and those announced since then. */
  #known: Set<string> | null = null;
  #open: Call[] = [];
  #tells = false;
  readonly #link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  readonly #icon = this.#link?.getAttribute('href') ?? '';

  /** Starts to announce, beginning with takeovers that no page has announced yet. */
  tell(): void {
    this.#tells = true;
    if (this.#known) this.#announce();
  }

  /** Handles the open takeovers, and announces those that now need a person: new ones, and those whose person has left. */
  update(open: Call[]): void {
    this.#open = open;
    this.#badge(open.length > 0);
    this.#known ??= new Set(this.#waiting.map(({ id }) => id));
    if (this.#tells) this.#announce();
  }

  get #waiting(): Call[] {
    return this.#open.filter(({ claimed }) => !claimed);
  }

  #announce(): void {
    const waiting = this.#waiting;
    const known = stored() ?? this.#known;
    const fresh = waiting.filter(({ id }) => !known?.has(id));
    this.#known = new Set(waiting.map(({ id }) => id));
    write(KNOWN, JSON.stringify([...this.#known]));
    if (!fresh.length) return;
    if (read(SOUND) === 'on') play();
    if (!mayNotify()) return;
    for (const { id, reason } of fresh) {
      const notification = new Notification('Waiting for a person', { body: reason, tag: id });
      notification.addEventListener('click', () => {
        window.focus();
        location.assign(`/takeover/${encodeURIComponent(id)}`);
      });
    }
  }

  /** Shows a dot in the corner of the icon, by using another icon of the server. */
  #badge(waits: boolean): void {
    const href = waits ? (this.#link?.dataset.waiting ?? this.#icon) : this.#icon;
    if (this.#link && this.#link.getAttribute('href') !== href) this.#link.setAttribute('href', href);
  }
}

/** Returns the takeovers that waited when a page of this browser last announced, or null if none has. */
function stored(): Set<string> | null {
  try {
    return new Set(JSON.parse(read(KNOWN)) as string[]);
  } catch {
    return null;
  }
}
