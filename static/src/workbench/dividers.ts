/** Movable borders between panels, by mouse, finger and arrow keys. Their positions are stored. */

import { read, write } from '../ui/storage.js';

interface Divider {
  handle: HTMLElement;
  /** The element with the custom property. */
  host: HTMLElement;
  property: string;
  key: string;
  /** Returns the size for a position of the pointer, in `unit`. */
  at(event: PointerEvent): number;
  /** Limits and the step of an arrow key. */
  min: number;
  max(): number;
  step: number;
  unit: 'px' | '%';
  /** Returns the default size, as in the stylesheet. */
  initial(): number;
  /** Whether arrow left or up increases the size. */
  reverse: boolean;
}

/** Makes a divider movable by pointer and keys, and stores its position. */
export function movable(divider: Divider): void {
  const { handle, host, property, key } = divider;
  /** The chosen size, or null. */
  let chosen = stored(key);

  const size = (): number => Math.round(Math.max(divider.min, Math.min(divider.max(), chosen ?? divider.initial())));
  const lay = (): void => {
    if (chosen === null) host.style.removeProperty(property);
    else host.style.setProperty(property, `${size()}${divider.unit}`);
    handle.setAttribute('aria-valuenow', String(size()));
    handle.setAttribute('aria-valuemin', String(divider.min));
    handle.setAttribute('aria-valuemax', String(Math.round(divider.max())));
  };
  const choose = (value: number | null, keep: boolean): void => {
    chosen = value;
    if (value !== null) chosen = size();
    lay();
    if (keep) write(key, chosen === null ? '' : String(chosen));
  };
  lay();

  handle.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    handle.dataset.moving = '';
  });
  handle.addEventListener('pointermove', (event) => {
    if (handle.hasPointerCapture(event.pointerId)) choose(divider.at(event), false);
  });
  handle.addEventListener('lostpointercapture', () => {
    delete handle.dataset.moving;
    write(key, chosen === null ? '' : String(chosen));
  });
  handle.addEventListener('dblclick', () => choose(null, true));
  handle.addEventListener('keydown', (event) => {
    if (event.key === 'Home' || event.key === 'End') {
      event.preventDefault();
      choose(event.key === 'Home' ? divider.min : divider.max(), true);
      return;
    }
    const less = event.key === 'ArrowLeft' || event.key === 'ArrowUp';
    const more = event.key === 'ArrowRight' || event.key === 'ArrowDown';
    if (!less && !more) return;
    event.preventDefault();
    choose(size() + divider.step * (less === divider.reverse ? 1 : -1), true);
  });
  window.addEventListener('resize', lay);
}

function stored(key: string): number | null {
  const value = Number.parseFloat(read(key));
  return Number.isFinite(value) ? value : null;
}
