import { colour } from '../ui/colours.js';
import { byId, h, setText, show } from '../ui/dom.js';

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

  /** Shows code under the name of its script. */
  show(code: string, name: string): void {
    setText(byId('run-code-name'), name);
    this.#lines.replaceChildren(...code.split('\n').map((text, i) => h('span', { class: 'code-line', 'data-line': i + 1, text })));
    this.#lines.scrollTop = 0;
    this.#set(true);
    colour(this.#lines);
  }

  hide(): void {
    this.#set(false);
  }

  /** The menu above belongs to the script in the editor, so it goes and comes with that. */
  #set(shown: boolean): void {
    show(this.#host, shown);
    byId('script-pane').toggleAttribute('data-run-code', shown);
  }

  /** Scrolls to the marked line, as it is only now in sight. */
  reveal(): void {
    this.#lines.querySelector('.at-fault, .at-moment')?.scrollIntoView({ block: 'nearest' });
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
