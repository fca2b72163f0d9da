import { byId, setText, show } from '../ui/dom.js';
import type { Run } from '../remote/protocol.js';

/** Says below the page why the last run failed, as long as the panel with its output is folded. Phones held upright say it on the panel's button. */
export class Fault {
  #host = byId('fault');
  #pane = byId('script-pane');
  #words = '';

  constructor() {
    byId('fault-close').addEventListener('click', () => this.none());
    new ResizeObserver(() => this.#draw()).observe(this.#pane);
  }

  /** Takes the outcome of a run. */
  end({ status, error }: Run): void {
    this.#words = error && status !== 'cancelled' ? `${error.name}: ${error.message.split('\n')[0]}` : '';
    this.#draw();
  }

  /** Takes it back: another run has begun, or somebody has read it. */
  none(): void {
    this.#words = '';
    this.#draw();
  }

  #draw(): void {
    setText(byId('fault-words'), this.#words);
    show(this.#host, this.#words !== '' && this.#pane.clientHeight === 0);
  }
}
