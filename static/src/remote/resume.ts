import { keep, recall } from '../ui/storage.js';

/**
 * The word with which a page that is loaded again gets its place back: its viewer id, and with it control and the
 * takeover it works on. The tab remembers the word only while nobody looks at the page, because a copy of the tab gets
 * what the tab remembers, and must not take the place of the first.
 */
export class Resume {
  /** Empty as long as the server gave none. */
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
