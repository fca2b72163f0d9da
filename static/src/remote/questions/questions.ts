import type { Live } from '../live.js';

/** What a viewer is asked, and later told to be over. */
interface Question { id: string; closed?: boolean }

/** Questions of the remote browser that wait for an answer: one is shown, the others come after it. */
export class Questions<Q extends Question> {
  #open: Q[] = [];

  /** The one that is shown. */
  get first(): Q | null {
    return this.#open[0] ?? null;
  }

  /** Takes what the server tells: a question, or that one is over. Reports whether another one is the first now. */
  take(message: Q): boolean {
    const { first } = this;
    if (message.closed) this.#open = this.#open.filter(({ id }) => id !== message.id);
    else if (!this.#open.some(({ id }) => id === message.id)) this.#open.push(message);
    return this.first !== first;
  }

  /** The first is answered. */
  shift(): void {
    this.#open.shift();
  }

  /** Forgets all: without a connection nothing can be answered, and what is still open is told again. */
  clear(): void {
    this.#open = [];
  }
}

/** Shows the questions in a dialog, one after the other: `show` puts the first into it, and closes it when there is none. */
export function ask<Q extends Question>(live: Live, questions: Questions<Q>, dialog: HTMLDialogElement, show: () => void): void {
  live.on('connection', (state) => {
    if (state.phase === 'open') return;
    questions.clear();
    show();
  });
  dialog.addEventListener('close', () => {
    // A second Escape closes it whatever is made of the first.
    if (questions.first && !dialog.open) dialog.showModal();
  });
}
