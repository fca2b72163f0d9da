/** Keys that are typed within this time (ms) of each other form one word. */
const WORD_TIME = 800;

/** Finds the option that begins with the typed text, as lists on desktops do. */
export class TypeAhead {
  #word = '';
  #at = -Infinity;

  /** Returns whether a key that is typed now continues a word, so that a space belongs to it. */
  typing(now: number): boolean {
    return this.#word !== '' && now - this.#at < WORD_TIME;
  }

  /**
   * Returns the index of the label to go to from `active` after a character, or -1. Repeating one letter cycles through all labels that begin with
   * it.
   */
  type(character: string, labels: readonly string[], active: number, now: number): number {
    this.#word = this.typing(now) ? this.#word + character.toLowerCase() : character.toLowerCase();
    this.#at = now;
    const same = [...this.#word].every((letter) => letter === this.#word[0]);
    const word = same ? (this.#word[0] ?? '') : this.#word;
    const from = same ? active + 1 : Math.max(0, active);
    for (let step = 0; step < labels.length; step++) {
      const at = (from + step) % labels.length;
      if (labels[at]?.toLowerCase().startsWith(word)) return at;
    }
    return -1;
  }
}
