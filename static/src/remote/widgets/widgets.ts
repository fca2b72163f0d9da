import { h } from '../../ui/dom.js';
import type { Keyboard } from '../keyboard.js';
import type { Live } from '../live.js';
import type { SelectMessage } from '../protocol.js';
import type { Screen } from '../screen.js';
import { FieldPanel } from './field.js';
import { OptionList } from './options.js';

/** Distance between a field and its list, and to the window's edge, in px. */
const GAP = 4;
const MARGIN = 8;

/** Keys that suggestions take while a person types. */
const SUGGESTION_KEYS = new Set(['ArrowDown', 'ArrowUp', 'Enter', 'Escape']);

/** Returns whether a message describes what another one did, perhaps at another place. The page tells of one field more than once. */
export function sameField({ rect: _, ...one }: SelectMessage, { rect: __, ...other }: SelectMessage): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Draws what Chromium would open over the remote page: lists, dates, colours, suggestions. */
export class Widgets {
  #panel = h('div', { class: 'widget', role: 'dialog', popover: 'manual' });
  #body: OptionList | FieldPanel | null = null;
  #open: SelectMessage | null = null;
  #coarse = window.matchMedia('(pointer: coarse)');
  #narrow = window.matchMedia('(max-width: 640px)');

  constructor(private readonly live: Live, private readonly screen: Screen, private readonly keyboard: Keyboard) {
    document.body.append(this.#panel);
    live.on('select', (message) => this.#show(message));
    live.on('control', () => !live.mine && this.#close(false));
    live.on('connection', (state) => state.phase !== 'open' && this.#close(false)); // the server sends open ones again
    screen.on('view', () => this.#place());
    window.addEventListener('resize', () => this.#place());
    document.addEventListener('pointerdown', (event) => this.#pressed(event), { capture: true });
    window.addEventListener('keydown', (event) => this.#suggest(event), { capture: true });
  }

  get #suggests(): boolean {
    return this.#open?.kind === 'datalist';
  }

  /**
   * Returns whether the list opens at the window's lower edge, within reach of a thumb. Suggestions stay at their field, because the person types
   * there.
   */
  get #sheet(): boolean {
    return (this.#coarse.matches || this.#narrow.matches) && !this.#suggests;
  }

  #show(message: SelectMessage): void {
    if (message.closed || !message.kind) {
      if (this.#open?.id === message.id) this.#close(true);
      return;
    }
    // The page shows such a list itself, and several options can be chosen in it with a mouse.
    if (!this.live.mine || (message.inline && !this.#coarse.matches)) return;
    const again = this.#open !== null && sameField(this.#open, message);
    this.#open = message;
    if (again) return this.#place(); // what the person has entered stays
    const answers = { choose: (values: string[]) => this.#answer(values), cancel: () => this.#answer(null) };
    const list = message.kind === 'select' || message.kind === 'datalist';
    this.#body = list ? new OptionList(message, answers) : new FieldPanel(message, answers);
    this.#panel.replaceChildren(this.#body.element);
    this.#panel.setAttribute('aria-label', this.#suggests ? 'Suggestions for the remote page' : 'Choose a value for the field in the remote page');
    if (!this.#panel.matches(':popover-open')) this.#panel.showPopover();
    this.#place();
    if (!this.#suggests) this.#body.focus();
  }

  /** Positions the list below the field, or above it if it does not fit below and there is more room above. */
  #place(): void {
    const rect = this.#open?.rect;
    if (!rect) return;
    const { style } = this.#panel;
    this.#panel.toggleAttribute('data-sheet', this.#sheet);
    if (this.#sheet) {
      this.#panel.removeAttribute('style');
      return;
    }
    const { left, top, width, height } = this.screen.toWindow(rect);
    const bottom = top + height;
    const below = window.innerHeight - bottom - GAP - MARGIN;
    const above = top - GAP - MARGIN;
    style.maxHeight = '';
    style.minWidth = `${Math.min(width, window.innerWidth - 2 * MARGIN)}px`;
    const under = below >= Math.min(this.#panel.offsetHeight, above);
    style.maxHeight = `${Math.max(80, under ? below : above)}px`;
    style.left = `${Math.max(MARGIN, Math.min(left, window.innerWidth - this.#panel.offsetWidth - MARGIN))}px`;
    style.top = under ? `${bottom + GAP}px` : 'auto';
    style.bottom = under ? 'auto' : `${window.innerHeight - top + GAP}px`;
  }

  #pressed(event: PointerEvent): void {
    if (!this.#open) return;
    if (!(event.target instanceof Node) || !this.#panel.contains(event.target)) this.#answer(null);
    // Suggestions leave the keys to the page.
    else if (this.#suggests) event.preventDefault();
  }

  /** Uses arrow keys for the suggestions. Other keys go to the page. */
  #suggest(event: KeyboardEvent): void {
    if (!this.#suggests || !(this.#body instanceof OptionList) || !this.keyboard.focused || event.isComposing || !SUGGESTION_KEYS.has(event.key)) return;
    if (event.key === 'Enter' && !this.#body.marked) return;
    this.#body.key(event);
  }

  #answer(values: string[] | null): void {
    if (!this.#open) return;
    this.live.send({ type: 'select', id: this.#open.id, values });
    this.#close(true);
  }

  /** Closes the list. `back` returns the keys to the remote page if the list had them. */
  #close(back: boolean): void {
    if (!this.#open) return;
    const had = this.#panel.contains(document.activeElement);
    this.#open = null;
    this.#body = null;
    this.#panel.hidePopover();
    this.#panel.replaceChildren();
    if (back && had && !this.#coarse.matches) this.keyboard.focus();
  }
}
