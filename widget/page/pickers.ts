/**
 * What Chromium opens over a page for a select, a date, a colour or the suggestions of a text field. Without a window nobody sees it, but it takes
 * the keys. So the agent closes it and describes it, and the viewer draws it instead.
 */

/** Bounds of a description; the server has the same. */
const MAX_OPTIONS = 1_000;
const MAX_LABEL = 200;
const MAX_VALUE = 1_000;

const FIELDS = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'color']);

export type Field = HTMLSelectElement | HTMLInputElement;

interface Option { value: string; label: string; group: string; disabled: boolean; selected: boolean }

/** Returns the field for which an event on an element would open a picker, or null. */
export function fieldOf(element: unknown): Field | null {
  if (element instanceof HTMLOptionElement || element instanceof HTMLOptGroupElement) return element.closest('select');
  return element instanceof HTMLSelectElement || element instanceof HTMLInputElement ? element : null;
}

/**
 * Returns whether a person on a touch screen needs help with a field that has opened nothing: a list with several choices that the page itself shows, or
 * a date or time, which opens by its small icon only.
 */
export function isInline(field: Field): boolean {
  if (isOpen(field)) return false;
  if (field instanceof HTMLSelectElement) return field.multiple;
  return FIELDS.has(field.type) && field.type !== 'color' && !field.readOnly && !field.matches(':disabled');
}

export const suggests = (field: Field): boolean => field instanceof HTMLInputElement && field.list !== null && !FIELDS.has(field.type) && !field.readOnly && !field.disabled;

export const isOpen = (field: Field): boolean => field.matches(':open');

/** Closes Chromium's picker of a field. Chromium closes it without an event when the field has no box. */
export function shut(field: Field): void {
  const animation = field.animate([{ display: 'none' }, { display: 'none' }], 1e6);
  field.getBoundingClientRect();
  animation.cancel();
  field.getBoundingClientRect();
  if (!isOpen(field)) return;
  field.blur(); // for a page that prevents hiding the field
  field.focus({ preventScroll: true });
}

const clip = (text: string | null, length: number): string => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, length);

function off(option: HTMLOptionElement): boolean {
  return option.disabled || (option.parentElement instanceof HTMLOptGroupElement && option.parentElement.disabled);
}

/** A field that was described to viewers; answers refer to it. */
export class Picker {
  #tokens = new Map<string, HTMLOptionElement>();

  /** The selected options of an inline list before it was touched. */
  before: ReadonlySet<HTMLOptionElement> = new Set();
  /** Chromium has opened nothing for the field. */
  inline = true;

  constructor(readonly field: Field) {}

  describe(): object | null {
    const { field, inline } = this;
    const { x, y, width, height } = field.getBoundingClientRect();
    const rect = [x, y, width, height];
    if (field instanceof HTMLSelectElement) {
      const options = this.#options([...field.options].filter((option) => !option.hidden));
      return { kind: 'select', multiple: field.multiple, inline: inline && field.multiple, value: '', options, min: '', max: '', step: '', rect };
    }
    const { value, min, max, step } = field;
    if (!suggests(field)) return { kind: field.type, multiple: false, inline: inline && isInline(field), value, options: [], min, max, step, rect };
    const typed = value.toLowerCase();
    const fits = [...(field.list?.options ?? [])].filter((option) => option.value && !option.disabled && `${option.value}\n${option.label}`.toLowerCase().includes(typed));
    const options = this.#options(fits.filter((option) => option.value !== value));
    return options.length ? { kind: 'datalist', multiple: false, inline: false, value, options, min: '', max: '', step: '', rect } : null;
  }

  /** Returns options with unique values, although the page's values may be equal. */
  #options(options: HTMLOptionElement[]): Option[] {
    this.#tokens.clear();
    return options.slice(0, MAX_OPTIONS).map((option, index) => {
      let value = option.value;
      if (value.length > MAX_VALUE || this.#tokens.has(value)) value = `${value.slice(0, MAX_VALUE)}#${index}`;
      this.#tokens.set(value, option);
      const group = option.parentElement instanceof HTMLOptGroupElement ? clip(option.parentElement.label, MAX_LABEL) : '';
      return { value, label: clip(option.label, MAX_LABEL) || clip(option.value, MAX_LABEL), group, disabled: off(option), selected: option.selected || this.before.has(option) };
    });
  }

  /** Sets the values that a person chose. Returns false if they cannot be chosen. The page gets events if that changes the field. */
  choose(values: string[]): boolean {
    const { field } = this;
    if (!field.isConnected || field.matches(':disabled')) return false;
    if (field instanceof HTMLSelectElement || suggests(field)) {
      const chosen = values.map((value) => this.#tokens.get(value));
      if (chosen.some((option) => !option || off(option))) return false;
      return field instanceof HTMLSelectElement ? this.#select(field, new Set(chosen)) : this.#enter(field, chosen[0]?.value ?? '');
    }
    return this.#enter(field, values[0] ?? '');
  }

  #select(select: HTMLSelectElement, chosen: ReadonlySet<unknown>): boolean {
    if (!select.multiple && chosen.size !== 1) return false;
    const offered = new Set(this.#tokens.values());
    let changed = false;
    for (const option of select.options) {
      const wanted = chosen.has(option);
      // In a list with several choices, options that were not offered or cannot be chosen stay unchanged.
      if (option.selected === wanted || (select.multiple && (off(option) || !offered.has(option)))) continue;
      changed = true;
      if (select.multiple || wanted) option.selected = wanted;
    }
    if (changed) this.#tell();
    return true;
  }

  #enter(input: HTMLInputElement, value: string): boolean {
    const before = input.value;
    if (value === before) return true;
    input.value = value;
    const { badInput, rangeUnderflow, rangeOverflow, stepMismatch } = input.validity;
    if (badInput || rangeUnderflow || rangeOverflow || stepMismatch || (value !== '' && input.value === '')) {
      input.value = before;
      return false;
    }
    if (input.value !== before) this.#tell();
    return true;
  }

  #tell(): void {
    const here = globalThis as { takeoverAnswers?: Element };
    here.takeoverAnswers = this.field; // for whoever follows what the person does (automation/page/follow.ts)
    this.field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    this.field.dispatchEvent(new Event('change', { bubbles: true }));
    delete here.takeoverAnswers;
  }
}
