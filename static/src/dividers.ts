/** Borders between panels that can be moved, by mouse, finger and arrow keys, and are remembered. */

interface Divider {
  handle: HTMLElement;
  /** The element that carries the custom property. */
  host: HTMLElement;
  property: string;
  key: string;
  /** The size that a pointer's position stands for, in `unit`. */
  at(event: PointerEvent): number;
  /** Limits and the step of an arrow key. */
  min: number;
  max(): number;
  step: number;
  unit: 'px' | '%';
  initial: number;
  /** Whether arrow left or up makes the size larger. */
  reverse: boolean;
}

export function movable(divider: Divider): void {
  const { handle, host, property, key } = divider;
  let size = divider.initial;

  const set = (value: number, keep: boolean): void => {
    size = Math.round(Math.max(divider.min, Math.min(divider.max(), value)));
    host.style.setProperty(property, `${size}${divider.unit}`);
    handle.setAttribute('aria-valuenow', String(size));
    handle.setAttribute('aria-valuemin', String(divider.min));
    handle.setAttribute('aria-valuemax', String(Math.round(divider.max())));
    if (keep) store(key, size);
  };
  set(read(key) ?? divider.initial, false);

  handle.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    handle.dataset.moving = '';
  });
  handle.addEventListener('pointermove', (event) => {
    if (handle.hasPointerCapture(event.pointerId)) set(divider.at(event), false);
  });
  handle.addEventListener('lostpointercapture', () => {
    delete handle.dataset.moving;
    store(key, size);
  });
  handle.addEventListener('dblclick', () => set(divider.initial, true));
  handle.addEventListener('keydown', (event) => {
    const less = event.key === 'ArrowLeft' || event.key === 'ArrowUp';
    const more = event.key === 'ArrowRight' || event.key === 'ArrowDown';
    if (!less && !more) return;
    event.preventDefault();
    set(size + divider.step * (less === divider.reverse ? 1 : -1), true);
  });
  window.addEventListener('resize', () => set(size, false));
}

function read(key: string): number | null {
  try {
    const value = Number.parseFloat(localStorage.getItem(key) ?? '');
    return Number.isFinite(value) ? value : null;
  } catch {
    return null;
  }
}

function store(key: string, value: number): void {
  try {
    localStorage.setItem(key, String(value));
  } catch {
    // Not remembered then.
  }
}
