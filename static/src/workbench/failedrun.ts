import { byId, setText, show } from '../ui/dom.js';
import { read, write } from '../ui/storage.js';
import type { Run } from '../remote/protocol.js';
import { firstLine } from './lines.js';

/** The id of the last failed run that the person has seen or closed. */
const SEEN = 'takeover.failedRun';

/** Says below the page why the last run failed, while the panel with its output is folded. Windows below 600 px say it on the panel's button alone. */
export class FailedRun {
  #host = byId('failed-run');
  #pane = byId('script-pane');
  #run = '';

  constructor() {
    byId('failed-run-close').addEventListener('click', () => this.#seen());
    new ResizeObserver(() => this.#draw()).observe(this.#pane);
  }

  /** Takes the outcome of a run, and the word for it. */
  end({ id, status, error }: Run, word: string): void {
    this.#run = error && status !== 'cancelled' && id !== read(SEEN) ? id : '';
    setText(byId('failed-run-word'), word);
    setText(byId('failed-run-words'), error ? `${error.name}: ${firstLine(error.message)}` : '');
    this.#draw();
  }

  /** Takes it back, because another run has begun, or the output was closed. */
  none(): void {
    this.#run = '';
    this.#draw();
  }

  #seen(): void {
    write(SEEN, this.#run);
    this.none();
  }

  #draw(): void {
    if (this.#run && this.#pane.clientHeight > 0) this.#seen();
    show(this.#host, this.#run !== '');
  }
}
