/** Keys typed within this time (ms) of each other make one word. */
const WORD_TIME = 800;

/** Finds the option that begins with the typed text, like lists of every desktop. */
export class TypeAhead {
  #word = '';
  #at = -Infinity;

  /** Whether a key typed now continues a word; a space then belongs to it. */
  typing(now: number): boolean {
    return this.#word !== '' && now - this.#at < WORD_TIME;
  }

  /** The label to go to from `active` after a character, or -1. Repeating one letter goes through all labels that begin with it. */
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
