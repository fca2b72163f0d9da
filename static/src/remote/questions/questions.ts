import { byId } from '../../ui/dom.js';
import type { Live } from '../live.js';

/** How far (px) a dialog stays from the window's edges. */
const EDGE = 12;

/** A question to a viewer, or the message that it has ended. */
interface Question { id: string; closed?: boolean }

/** Open questions of the remote browser: one is shown, the others follow. */
export class Questions<Q extends Question> {
  #open: Q[] = [];

  /** Returns the question that is shown. */
  get first(): Q | null {
    return this.#open[0] ?? null;
  }

  /** Handles a message about a question: a new one, or the end of one. Returns whether the first question has changed. */
  take(message: Q): boolean {
    const { first } = this;
    if (message.closed) this.#open = this.#open.filter(({ id }) => id !== message.id);
    else if (!this.#open.some(({ id }) => id === message.id)) this.#open.push(message);
    return this.first !== first;
  }

  /** Removes the first question, which was answered. */
  shift(): void {
    this.#open.shift();
  }

  /** Forgets all questions: without a connection none can be answered, and the server sends open ones again. */
  clear(): void {
    this.#open = [];
  }
}

/** Opens the dialog of a question over the middle of the remote page. */
export function openOver(dialog: HTMLDialogElement): void {
  if (!dialog.open) dialog.showModal();
  place(dialog);
}

/** Moves a dialog to the middle of where the remote page is shown, as far as the window has room there. */
function place(dialog: HTMLDialogElement): void {
  const page = byId('stage-area').getBoundingClientRect();
  const within = (at: number, size: number, room: number): number => Math.max(EDGE, Math.min(at - size / 2, room - size - EDGE));
  dialog.style.margin = '0';
  dialog.style.left = `${within(page.x + page.width / 2, dialog.offsetWidth, window.innerWidth)}px`;
  dialog.style.top = `${within(page.y + page.height / 2, dialog.offsetHeight, window.innerHeight)}px`;
}

/** Shows the questions in a dialog, one after the other. `show` fills it with the first question, and closes it if there is none. */
export function ask<Q extends Question>(live: Live, questions: Questions<Q>, dialog: HTMLDialogElement, show: () => void): void {
  live.on('connection', (state) => {
    if (state.phase === 'open') return;
    questions.clear();
    show();
  });
  const again = (): void => {
    if (dialog.open) place(dialog);
  };
  window.addEventListener('resize', again);
  new ResizeObserver(again).observe(dialog); // it grows by lists and errors
  dialog.addEventListener('close', () => {
    // A second Escape closes a dialog even if the first one was prevented.
    if (questions.first && !dialog.open) openOver(dialog);
  });
}
