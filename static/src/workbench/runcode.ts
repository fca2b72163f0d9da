import { byId, h, show } from '../ui/dom.js';

/** The code of a run that is not the one in the editor. It lies over the editor, and can only be read. */
export class RunCode {
  #host = byId('run-code');
  #lines = byId('run-code-lines');

  constructor() {
    byId('run-code-close').addEventListener('click', () => this.hide());
  }

  get shown(): boolean {
    return !this.#host.hidden;
  }

  show(code: string): void {
    this.#lines.replaceChildren(...code.split('\n').map((text, i) => h('span', { class: 'code-line', 'data-line': i + 1, text })));
    this.#lines.scrollTop = 0;
    show(this.#host, true);
  }

  hide(): void {
    show(this.#host, false);
  }

  /** Marks the line that runs, or the one at fault; null is for none. */
  mark(line: number | null, fault = false): void {
    for (const [i, element] of [...this.#lines.children].entries()) {
      const here = i + 1 === line;
      element.classList.toggle('at-moment', here && !fault);
      element.classList.toggle('at-fault', here && fault);
      if (here) element.scrollIntoView({ block: 'nearest' });
    }
  }
}
