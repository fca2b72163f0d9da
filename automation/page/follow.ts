import type { Injected } from './injected.ts';
import { isSecret } from '../../capture/page/secret.ts';

// Reports what a person does in one document, as steps of a script. It runs in our own world. The person's keys are not read: what counts is what a
// field holds when they leave it, unless it is a secret one, and what they press.

/** What is reported, as Go's codegen.PersonStep has it. */
interface Step {
  kind: 'click' | 'dblclick' | 'fill' | 'check' | 'uncheck' | 'select' | 'press' | 'files' | 'drag';
  selector: string;
  value?: string;
  values?: string[];
  /** The field is for a secret, so its value is not here. */
  secret?: true;
  key?: string;
  /** Where the press was within the element, in CSS pixels. */
  x?: number;
  y?: number;
}

/** The longest value that is reported, in characters. */
const LONGEST = 2_000;
/** How long (ms) after a change of a field what it holds is reported. Go keeps only the last report of a field. */
const SOON = 150;
/** The most reports of a document in a second. */
const PER_SECOND = 40;
/** How far (CSS px) a pointer moves between press and release before it is a drag. */
const DRAG = 10;
/** Fields whose value is chosen from a picker, which our own code answers. */
const PICKED = new Set(['date', 'time', 'month', 'week', 'datetime-local', 'color']);

type Field = HTMLInputElement | HTMLTextAreaElement;

/** Whether our own code makes the events of an element now. A page's element of this name is a member of the window, too, but not its own. */
const ours = (target: Element): boolean => Object.hasOwn(globalThis, 'takeoverAnswers') && (globalThis as { takeoverAnswers?: Element }).takeoverAnswers === target;

const isInput = (node: unknown): node is HTMLInputElement => node instanceof HTMLInputElement;

/** Returns whether typing changes the element's value. */
function takesText(node: Element): node is Field {
  return node instanceof HTMLTextAreaElement || (isInput(node) && !['button', 'submit', 'reset', 'image', 'checkbox', 'radio', 'file', 'hidden'].includes(node.type));
}

/** The element that holds an editable text. */
function editable(node: Element): HTMLElement | null {
  let host: HTMLElement | null = null;
  for (let at: Element | null = node; at instanceof HTMLElement && at.isContentEditable; at = at.parentElement)
    host = at;
  return host;
}

export class Follower {
  /** A field whose value has changed since it was last reported, with its selector from before. */
  #changed: { field: Element; selector: string } | null = null;
  #focused: { field: Element; selector: string } | null = null;
  #timer = 0;
  /** When the present second began, and how much was reported in it. */
  #second = 0;
  #told = 0;
  #pressed: { at: Element; x: number; y: number } | null = null;
  #stop = new AbortController();

  constructor(private readonly injected: Injected, private readonly report: (text: string) => void) {
    const on = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K], target: Element) => void): void => {
      const take = (event: Event): void => {
        const target = event.composedPath()[0];
        // Our own code answers pickers, in this world, and says so.
        if (!(target instanceof Element) || !event.isTrusted && !ours(target)) return;
        try {
          listener(event as WindowEventMap[K], target);
        } catch {
          // A page that breaks its own elements loses the step.
        }
      };
      window.addEventListener(type, take, { capture: true, passive: true, signal: this.#stop.signal });
    };
    on('input', (_, target) => this.#input(target));
    on('change', (_, target) => this.#change(target));
    on('click', (event, target) => this.#click(event as MouseEvent, target));
    on('pointerdown', (event, target) => {
      this.#pressed = { at: target, x: event.clientX, y: event.clientY };
      isSecret(target); // a page may show later what a field holds, which is secret all the same
    });
    on('focusin', (_, target) => {
      isSecret(target);
      const field = takesText(target) ? target : editable(target);
      this.#focused = field && { field, selector: this.#selector(field) }; // before typing changes the text by which it is found
    });
    on('pointerup', event => this.#released(event));
    on('keydown', (event, target) => this.#key(event, target));
    on('focusout', () => this.flush());
    on('submit', () => this.flush());
    window.addEventListener('pagehide', () => this.flush(), { capture: true, signal: this.#stop.signal });
  }

  /** Ends it, after what a field holds has been reported. */
  stop(): void {
    this.flush();
    this.#stop.abort();
  }

  /** Reports what the field holds that was changed last. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.#changed) return;
    this.#tellField(this.#changed);
    this.#changed = null;
  }

  #tellField({ field, selector }: { field: Element; selector: string }): void {
    if (isSecret(field)) return this.#tell({ kind: 'fill', selector, secret: true });
    const value = takesText(field) ? field.value : (field as HTMLElement).innerText;
    if (value.length <= LONGEST) this.#tell({ kind: 'fill', selector, value });
  }

  #tell(step: Step): void {
    const now = performance.now();
    if (now - this.#second > 1_000) [this.#second, this.#told] = [now, 0];
    if (++this.#told > PER_SECOND) return; // no person is that fast
    this.report(JSON.stringify(step));
  }

  #selector(element: Element): string { return this.injected.generateSelectorSimple(element); }

  #input(target: Element): void {
    const field = takesText(target) ? target : editable(target);
    if (!field) return;
    if (this.#changed?.field !== field) {
      this.flush();
      this.#changed = this.#focused?.field === field ? this.#focused : { field, selector: this.#selector(field) };
      this.#tellField(this.#changed); // a document that ends reports nothing any more
    }
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0;
      if (this.#changed) this.#tellField(this.#changed);
    }, SOON);
  }

  #change(target: Element): void {
    const chosen = target instanceof HTMLSelectElement || isInput(target) && PICKED.has(target.type);
    if (chosen && isSecret(target)) {
      this.flush();
      return this.#tell({ kind: target instanceof HTMLSelectElement ? 'select' : 'fill', selector: this.#selector(target), secret: true });
    }
    if (target instanceof HTMLSelectElement) {
      this.flush();
      return this.#tell({ kind: 'select', selector: this.#selector(target), value: target.value.slice(0, LONGEST), values: [...target.selectedOptions].slice(0, 50).map(option => option.label.slice(0, LONGEST)) });
    }
    if (!isInput(target)) return;
    if (target.type === 'checkbox' || target.type === 'radio') {
      this.flush();
      this.#tell({ kind: target.checked ? 'check' : 'uncheck', selector: this.#selector(target) });
    } else if (target.type === 'file') {
      this.#tell({ kind: 'files', selector: this.#selector(target), values: [...target.files ?? []].slice(0, 50).map(({ name }) => name) });
    } else if (PICKED.has(target.type) || target.type === 'range') {
      this.#changed = null;
      this.#tell({ kind: 'fill', selector: this.#selector(target), value: target.value });
    }
  }

  #click(event: MouseEvent, target: Element): void {
    this.flush();
    if (event.detail === 0 || event.button !== 0 || this.#otherwise(target)) return; // Enter and labels click, too
    const { left, top } = target.getBoundingClientRect();
    this.#tell({ kind: event.detail === 2 ? 'dblclick' : 'click', selector: this.#selector(target), x: Math.round(event.clientX - left), y: Math.round(event.clientY - top) });
  }

  /** Whether another step tells what a press on the element did. */
  #otherwise(target: Element): boolean {
    const control = target.closest('label')?.control ?? target;
    if (control instanceof HTMLSelectElement || control instanceof HTMLOptionElement) return true;
    if (isInput(control) && (['checkbox', 'radio', 'file', 'range'].includes(control.type) || PICKED.has(control.type))) return true;
    return takesText(control) && !control.readOnly || editable(target) !== null;
  }

  #released(event: PointerEvent): void {
    const pressed = this.#pressed;
    this.#pressed = null;
    if (!pressed || event.button !== 0 || Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < DRAG) return;
    if (takesText(pressed.at) || editable(pressed.at) || isInput(pressed.at) && pressed.at.type === 'range') return; // they selected text, or a value
    this.flush();
    this.#tell({ kind: 'drag', selector: this.#selector(pressed.at), x: Math.round(event.clientX - pressed.x), y: Math.round(event.clientY - pressed.y) });
  }

  #key(event: KeyboardEvent, target: Element): void {
    const control = takesText(target) && !(target instanceof HTMLTextAreaElement);
    if (event.key === 'Enter' && control || event.key === 'Escape') {
      this.flush();
      this.#tell({ kind: 'press', selector: this.#selector(target), key: event.key });
    } else if (['Enter', ' '].includes(event.key) && target.matches('button, a[href], summary, input:is([type=submit], [type=button], [type=reset]), [role=button], [role=link], [role=menuitem], [role=option], [role=tab]')) {
      this.flush();
      this.#tell({ kind: 'click', selector: this.#selector(target) });
    }
  }
}
