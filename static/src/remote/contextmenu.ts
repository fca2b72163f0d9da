import { copyText } from '../ui/copying.js';
import { byId, h } from '../ui/dom.js';
import type { Clipboard } from './clipboard.js';
import type { Point } from './geometry.js';
import type { Keyboard } from './keyboard.js';
import type { Live } from './live.js';
import { notice } from '../ui/notices.js';
import type { MenuMessage } from './protocol.js';
import type { Screen } from './screen.js';

/** Distance to the window's edge, in px. */
const MARGIN = 8;
/** If the menu opens within this time (ms) after a press, it opens at the point that was pressed. */
const PRESSED = 3_000;

interface Item { label: string; run(): void }

/** The menu of the right mouse button, a long press or the menu key, when the remote page has no menu of its own. */
export class ContextMenu {
  #menu = h('div', { class: 'context-menu', role: 'menu', 'aria-label': 'Remote page', popover: 'manual', tabindex: -1 });
  #at: Point = { x: 0, y: 0 };
  #pressedAt = -Infinity;
  #tab = 0;

  constructor(private readonly live: Live, private readonly screen: Screen, private readonly keyboard: Keyboard, private readonly clipboard: Clipboard) {
    byId('view').append(this.#menu);
    live.on('menu', (message) => this.#show(message));
    live.on('control', () => !live.mine && this.#close());
    live.on('connection', (state) => state.phase !== 'open' && this.#close());
    live.on('tabs', ({ active }) => active !== this.#tab && this.#close());
    // Without light dismiss, because releasing the button that opened the menu would close it.
    document.addEventListener('pointerdown', (event) => event.target instanceof Node && !this.#menu.contains(event.target) && this.#close(), { capture: true });
    screen.frame.addEventListener('pointerdown', (event) => this.#pressed(event), { capture: true });
    this.#menu.addEventListener('keydown', (event) => this.#key(event));
  }

  #pressed({ clientX, clientY }: PointerEvent): void {
    this.#at = { x: clientX, y: clientY };
    this.#pressedAt = performance.now();
  }

  #show(message: MenuMessage): void {
    if (!this.live.mine) return;
    this.#menu.replaceChildren(...this.#items(message).map(({ label, run }) => h('button', {
      type: 'button', class: 'menu-item', role: 'menuitem', tabindex: -1, text: label,
      on: { click: () => (this.#leave(), run()) },
    })));
    this.#close();
    this.#tab = this.live.active;
    this.#menu.showPopover();
    this.#place();
    this.#menu.querySelector<HTMLElement>('.menu-item')?.focus();
  }

  #items({ link, image, selected, editable }: MenuMessage): Item[] {
    const live = this.live;
    const open = (label: string, url: string): Item => ({ label, run: () => live.navigate({ type: 'tab', action: 'new', url }) });
    const copy = (label: string, text: string): Item => ({ label, run: () => void copyText(text).then((copied) => notice(copied ? 'Copied' : 'Your browser did not allow copying.')) });
    const go = (label: string, action: 'back' | 'forward' | 'reload'): Item => ({ label, run: () => live.navigate({ type: 'navigate', action }) });
    const items: Item[] = [];
    if (link) items.push(open('Open link in new tab', link), copy('Copy link address', link));
    if (image) items.push(open('Open image in new tab', image), copy('Copy image address', image));
    if (selected) items.push({ label: 'Copy', run: () => live.input({ type: 'clipboard', action: 'copy' }) });
    if (selected && editable) items.push({ label: 'Cut', run: () => live.input({ type: 'clipboard', action: 'cut' }) });
    if (editable) items.push({ label: 'Paste', run: () => void this.#paste() }, { label: 'Select all', run: () => this.keyboard.chord('Control+KeyA') });
    if (items.length === 0) items.push(go('Back', 'back'), go('Forward', 'forward'), go('Reload', 'reload'));
    return items;
  }

  async #paste(): Promise<void> {
    try {
      this.clipboard.text(await navigator.clipboard.readText());
    } catch {
      notice('Your browser does not let this page read the clipboard. Paste with the keyboard instead.');
    }
  }

  /** Places the menu at the point that was pressed, or in the middle if the menu key was used; always inside the window. */
  #place(): void {
    const { left, top, width, height } = this.screen.frame.getBoundingClientRect();
    const recent = performance.now() - this.#pressedAt < PRESSED;
    const at = recent ? this.#at : { x: left + width / 2, y: top + height / 2 };
    const { offsetWidth, offsetHeight, style } = this.#menu;
    style.left = `${Math.max(MARGIN, Math.min(at.x, window.innerWidth - offsetWidth - MARGIN))}px`;
    style.top = `${Math.max(MARGIN, at.y + offsetHeight + MARGIN > window.innerHeight ? at.y - offsetHeight : at.y)}px`;
  }

  #key(event: KeyboardEvent): void {
    const items = [...this.#menu.querySelectorAll<HTMLElement>('.menu-item')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 };
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      this.#leave();
      return;
    }
    const next = to[event.key];
    if (next === undefined) return;
    event.preventDefault();
    items[next % items.length]?.focus();
  }

  /** Closes the menu, and returns the keys to the remote page, except after a touch, because that would open the on-screen keyboard. */
  #leave(): void {
    this.#close();
    if (!window.matchMedia('(pointer: coarse)').matches) this.keyboard.focus();
  }

  #close(): void {
    if (this.#menu.matches(':popover-open')) this.#menu.hidePopover();
  }
}
