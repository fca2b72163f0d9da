import { keep, recall } from '../ui/storage.js';
import { setText, show } from '../ui/dom.js';
import type { Live } from './live.js';
import { notice } from '../ui/notices.js';
import type { Field } from './geometry.js';
import type { Screen } from './screen.js';

/** Remembers that the hint was seen. */
const HINT = 'takeover.zoom';

/**
 * Shows a button that enlarges a page that is too small to read, for people who do not know that they can zoom with two fingers. It zooms to the
 * focused field, or to the middle.
 */
export class Zoom {
  #buttons = [...document.querySelectorAll<HTMLElement>('[data-zoom]')];
  #field: Field | null = null;

  constructor(private readonly screen: Screen, live: Live) {
    for (const button of this.#buttons) button.addEventListener('click', () => this.#toggle());
    live.on('focus', ({ field }) => (this.#field = field));
    screen.on('view', () => this.#update());
    this.#update();
  }

  #toggle(): void {
    const { screen } = this;
    if (!screen.fitted) {
      screen.loosen(); // the person wants the whole page, whatever is kept in sight
      return screen.showWhole();
    }
    if (this.#field) screen.reveal(this.#field);
    // A field that is large enough does not move the view, but a person who presses the button wants it closer.
    if (screen.fitted) screen.zoomIn(screen.middle);
    if (recall(HINT)) return;
    keep(HINT, '1');
    notice('Use two fingers to move and zoom the page.');
  }

  #update(): void {
    const closer = this.screen.fitted;
    for (const button of this.#buttons) {
      show(button, this.screen.small || !closer);
      setText(button.querySelector('span'), closer ? 'Zoom in' : 'Zoom out');
      button.querySelector('use')?.setAttribute('href', closer ? '#i-zoom-in' : '#i-zoom-out');
    }
  }
}
