import { h } from '../../ui/dom.js';
import type { SelectMessage, SelectOption } from '../protocol.js';
import { TypeAhead } from './typeahead.js';

/** The number of options that Page Up and Page Down skip. */
const PAGE = 10;

interface Answers {
  choose(values: string[]): void;
  cancel(): void;
}

/** The options of a list. A single choice is final at once; several choices end with Done. */
export class OptionList {
  readonly element: HTMLElement;
  #list = h('div', { class: 'widget-list', role: 'listbox', tabindex: 0 });
  #rows: HTMLElement[];
  #options: SelectOption[];
  #multiple: boolean;
  #active = -1;
  #typed = new TypeAhead();

  constructor(message: SelectMessage, private readonly answers: Answers) {
    this.#options = message.options ?? [];
    this.#multiple = message.multiple ?? false;
    this.#list.setAttribute('aria-label', this.#multiple ? 'Choose one or more' : 'Choose one');
    if (this.#multiple) this.#list.setAttribute('aria-multiselectable', 'true');
    this.#rows = this.#options.map((option, index) => this.#row(option, index));
    this.#list.append(...this.#grouped());
    this.#list.addEventListener('keydown', (event) => this.key(event));
    this.element = h('div', { class: 'widget-options' }, this.#list);
    if (this.#multiple) {
      this.element.append(h('div', { class: 'widget-actions' },
        h('button', { type: 'button', class: 'button', text: 'Cancel', on: { click: () => answers.cancel() } }),
        h('button', { type: 'button', class: 'button primary', text: 'Done', on: { click: () => this.#done() } })));
    }
    const selected = this.#options.findIndex(({ selected }) => selected);
    this.#move(selected >= 0 || message.kind === 'datalist' ? selected : this.#options.findIndex(({ disabled }) => !disabled));
  }

  focus(): void {
    this.#list.focus({ preventScroll: true });
    this.#rows[this.#active]?.scrollIntoView({ block: 'nearest' });
  }

  /** Handles a key. Returns true if the list has used it. */
  key(event: KeyboardEvent): boolean {
    const { key } = event;
    if (event.ctrlKey || event.metaKey) return false;
    const space = key === ' ' && !this.#typed.typing(event.timeStamp);
    if (key === 'Escape') this.answers.cancel();
    else if (key === 'Enter' || key === 'Tab' || (event.altKey && key === 'ArrowUp')) {
      if (this.#multiple) this.#done();
      else this.#choose(this.#active);
    } else if (space) this.#choose(this.#active);
    else if (key === 'ArrowDown') this.#step(1);
    else if (key === 'ArrowUp') this.#step(-1);
    else if (key === 'PageDown') this.#step(PAGE);
    else if (key === 'PageUp') this.#step(-PAGE);
    else if (key === 'Home') this.#step(-Infinity);
    else if (key === 'End') this.#step(Infinity);
    else if ([...key].length === 1) {
      const at = this.#typed.type(key, this.#options.map(({ label, disabled }) => (disabled ? '' : label)), this.#active, event.timeStamp);
      if (at >= 0) this.#move(at);
    } else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Returns whether an option is marked. At first, suggestions have none. */
  get marked(): boolean {
    return this.#active >= 0;
  }

  #row(option: SelectOption, index: number): HTMLElement {
    const row = h('div', { class: 'widget-option', role: 'option', id: `widget-option-${index}`, 'aria-selected': String(option.selected), 'aria-disabled': option.disabled && 'true' });
    row.append(h('span', { class: 'widget-tick', 'aria-hidden': 'true' }), h('span', { class: 'widget-label', text: option.label || '\u00a0' }));
    row.addEventListener('pointermove', () => !option.disabled && this.#move(index, false));
    row.addEventListener('click', () => this.#choose(index));
    return row;
  }

  /** Returns the rows, grouped under the headings of their groups. */
  #grouped(): HTMLElement[] {
    const parts: HTMLElement[] = [];
    let group: HTMLElement | null = null;
    let name = '';
    for (const [index, option] of this.#options.entries()) {
      const row = this.#rows[index];
      if (!row) continue;
      if (option.group !== name) {
        name = option.group;
        group = name ? h('div', { role: 'group', 'aria-label': name }, h('div', { class: 'widget-group', 'aria-hidden': 'true', text: name })) : null;
        if (group) parts.push(group);
      }
      if (group) group.append(row);
      else parts.push(row);
    }
    return parts;
  }

  #step(by: number): void {
    const last = this.#options.length - 1;
    const wanted = Math.min(last, Math.max(0, this.#active + by));
    const able = (at: number): boolean => !this.#options[at]?.disabled;
    const ahead = by > 0 ? 1 : -1;
    let at = wanted;
    while (at >= 0 && at <= last && !able(at)) at += ahead;
    if (at < 0 || at > last) for (at = wanted; at >= 0 && at <= last && !able(at); ) at -= ahead;
    if (at >= 0 && at <= last) this.#move(at);
  }

  #move(index: number, scroll = true): void {
    this.#rows[this.#active]?.classList.remove('active');
    this.#active = index;
    const row = this.#rows[index];
    if (!row) return;
    row.classList.add('active');
    this.#list.setAttribute('aria-activedescendant', row.id);
    if (scroll) row.scrollIntoView({ block: 'nearest' });
  }

  #choose(index: number): void {
    const option = this.#options[index];
    if (!option || option.disabled) return;
    if (!this.#multiple) {
      this.answers.choose([option.value]);
      return;
    }
    option.selected = !option.selected;
    this.#rows[index]?.setAttribute('aria-selected', String(option.selected));
    this.#move(index);
  }

  #done(): void {
    this.answers.choose(this.#options.filter(({ selected }) => selected).map(({ value }) => value));
  }
}
