import { byId, setText, show } from '../../ui/dom.js';
import { keep, recall } from '../../ui/storage.js';
import { offsetOf } from './text.js';

/** The editor as the page uses it: Monaco, or a plain text field. */
export interface EditorView {
  value: string;
  goto(line: number, column: number): void;
  /** Marks the line of an error; null removes the mark. */
  mark(line: number | null): void;
  /** Marks the line that runs; null is for none. */
  running(line: number | null): void;
  /** Goes to the next problem of the script, and says what it is. */
  nextProblem(): void;
}

const KEY = 'takeover.script.';
/** How long (ms) after the last key the text is saved. */
const KEEP_AFTER = 400;

/** Stores the script with which the editor of a session starts when this tab opens the session. */
export function rememberScript(session: string, code: string): void {
  keep(KEY + session, code);
}

/** The script editor. It starts as a text field, which works at once everywhere, and becomes Monaco when that has loaded. */
export class Editor {
  onRun: () => void = () => {};
  onChange: () => void = () => {};
  #field = byId<HTMLTextAreaElement>('code');
  #view: EditorView;
  #timer = 0;
  #marked: number | null = null;
  #runs: number | null = null;

  constructor(private readonly session: string) {
    this.#view = this.#plain();
    const kept = this.#kept();
    if (kept !== null) this.#field.value = kept;
    this.#field.addEventListener('input', () => this.#changed());
    this.#field.addEventListener('keydown', (event) => this.#key(event));
    byId('problems').addEventListener('click', () => this.#view.nextProblem());
  }

  get value(): string {
    return this.#view.value;
  }

  set value(text: string) {
    this.#view.value = text;
    this.#changed();
  }

  goto(line: number, column: number): void {
    this.#view.goto(line, column);
  }

  mark(line: number | null): void {
    this.#marked = line;
    this.#view.mark(line);
  }

  running(line: number | null): void {
    this.#runs = line;
    this.#view.running(line);
  }

  /** Loads Monaco. The text field stays if that fails. */
  async upgrade(style: string, nonce: string): Promise<void> {
    if (!style) return;
    const { mount } = await import('./monaco.js');
    const view = await mount({
      host: byId('editor'),
      style,
      nonce,
      value: this.#field.value,
      changed: () => this.#changed(),
      problems: (count) => {
        show(byId('problems'), count > 0);
        setText(byId('problems'), count === 1 ? '1 problem' : `${count} problems`);
      },
      run: () => this.onRun(),
    });
    const focused = document.activeElement === this.#field;
    this.#field.hidden = true;
    this.#view = view;
    view.mark(this.#marked);
    view.running(this.#runs);
    if (focused) view.goto(1, 1);
  }

  #plain(): EditorView {
    const field = this.#field;
    return {
      get value() {
        return field.value;
      },
      set value(text) {
        field.value = text;
      },
      goto(line, column) {
        const at = offsetOf(field.value, line, column);
        field.focus();
        field.setSelectionRange(at, offsetOf(field.value, line + 1, 1) - 1);
        field.scrollTop = (line - 4) * 20;
      },
      mark: () => {}, // A text field cannot mark lines; the link in the output is enough.
      running: () => {},
      nextProblem: () => {},
    };
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.onRun();
    }
  }

  #changed(): void {
    this.onChange();
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => rememberScript(this.session, this.value), KEEP_AFTER);
  }

  #kept(): string | null {
    return recall(KEY + this.session);
  }
}
