import { h } from '../../ui/dom.js';
import type { SelectMessage } from '../protocol.js';

const NAMES: Record<string, string> = { date: 'Date', time: 'Time', 'datetime-local': 'Date and time', month: 'Month', week: 'Week', color: 'Colour' };

interface Answers {
  choose(values: string[]): void;
  cancel(): void;
}

/** Lets the person enter a date, a time or a colour in a field of the same kind on this side, with this device's own picker. */
export class FieldPanel {
  readonly element: HTMLFormElement;
  #input: HTMLInputElement;

  constructor(message: SelectMessage, private readonly answers: Answers) {
    const { kind = 'date', value = '', min, max, step } = message;
    this.#input = h('input', { type: kind, min: min || null, max: max || null, step: step || null, autocomplete: 'off' });
    this.#input.value = value;
    const clear = h('button', { type: 'button', class: 'button quiet', text: 'Clear', on: { click: () => answers.choose(['']) } });
    this.element = h('form', { class: 'widget-field' },
      h('label', { class: 'field' }, h('span', { text: NAMES[kind] ?? 'Value' }), this.#input),
      h('div', { class: 'widget-actions' }, kind !== 'color' && clear,
        h('button', { type: 'button', class: 'button', text: 'Cancel', on: { click: () => answers.cancel() } }),
        h('button', { type: 'submit', class: 'button primary', text: 'Set' })));
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      answers.choose([this.#input.value]);
    });
    this.element.addEventListener('keydown', (event) => this.key(event));
  }

  focus(): void {
    this.#input.focus({ preventScroll: true });
  }

  key(event: KeyboardEvent): boolean {
    if (event.key !== 'Escape') return false;
    event.preventDefault();
    event.stopPropagation();
    this.answers.cancel();
    return true;
  }
}
