import { keep, recall } from '../ui/storage.js';

/**
 * The secret word with which a reloaded page gets its place back: its viewer id, and with it control and its takeover. The tab stores the word only
 * while the page is not shown, because a copy of the tab gets what the tab has stored, and must not take the place of the original.
 */
export class Resume {
  /** Empty until the server sends one. */
  word: string;
  readonly #key: string;

  constructor(session: string) {
    this.#key = `takeover.resume.${session}`;
    this.word = recall(this.#key) ?? '';
    this.#forget();
    window.addEventListener('pagehide', () => this.#remember());
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#remember() : this.#forget()));
  }

  #remember(): void {
    keep(this.#key, this.word || null);
  }

  #forget(): void {
    keep(this.#key, null);
  }
}
