import { nearest, type Point } from './geometry.js';
import type { MouseMessage } from './protocol.js';
import type { Screen } from './screen.js';

/** A finger that moves less than this (CSS px) taps. */
const SLOP = 8;
/** A finger that rests this long (ms) takes hold of what is under it. */
const HOLD = 350;
/** Two taps within this time (ms) change the zoom. */
const DOUBLE_TAP = 300;

/** What a moving finger means: sideways it drags, as a slider wants it; up and down it scrolls. */
export function gestureOf(dx: number, dy: number): 'undecided' | 'drag' | 'scroll' {
  if (Math.hypot(dx, dy) < SLOP) return 'undecided';
  return Math.abs(dx) >= Math.abs(dy) ? 'drag' : 'scroll';
}

type Mode = 'idle' | 'undecided' | 'drag' | 'scroll' | 'pinch';

/**
 * Fingers. One finger is the remote mouse: a tap clicks, a sideways move or one
 * after a short hold drags, up and down scrolls. Two fingers move and zoom the
 * view on this side only.
 */
export class Touch {
  #mode: Mode = 'idle';
  #start: Point = { x: 0, y: 0 };
  #last: Point = { x: 0, y: 0 };
  #hold = 0;
  #tapAt = -Infinity;
  #pinch = { distance: 0, middle: { x: 0, y: 0 } };

  constructor(private readonly screen: Screen, private readonly send: (message: MouseMessage) => void, private readonly tapped: () => void) {
    const { stage } = screen;
    stage.addEventListener('touchstart', (event) => this.#begin(event), { passive: false });
    stage.addEventListener('touchmove', (event) => this.#move(event), { passive: false });
    stage.addEventListener('touchend', (event) => this.#end(event), { passive: false });
    stage.addEventListener('touchcancel', () => this.#cancel());
  }

  #mouse(event: MouseMessage['event'], at: Point, extra: Partial<MouseMessage> = {}): void {
    const point = this.screen.toPage({ clientX: at.x, clientY: at.y });
    const onPage = event === 'move' || event === 'up' ? point : nearest(point, this.screen.page);
    this.send({ type: 'mouse', event, ...onPage, button: 'none', buttons: 0, clickCount: 0, modifiers: 0, deltaX: 0, deltaY: 0, ...extra });
  }

  #begin(event: TouchEvent): void {
    event.preventDefault();
    if (event.touches.length >= 2) {
      this.#letGo();
      this.#mode = 'pinch';
      this.#pinch = pinchOf(event.touches);
      return;
    }
    const at = pointOf(event.touches[0]);
    if (!at) return;
    this.#mode = 'undecided';
    this.#start = this.#last = at;
    this.#hold = window.setTimeout(() => {
      if (this.#mode !== 'undecided') return;
      this.#take();
      navigator.vibrate?.(10);
    }, HOLD);
  }

  #move(event: TouchEvent): void {
    event.preventDefault();
    if (this.#mode === 'pinch') {
      if (event.touches.length < 2) return;
      const next = pinchOf(event.touches);
      this.screen.panBy(next.middle.x - this.#pinch.middle.x, next.middle.y - this.#pinch.middle.y);
      this.screen.zoomBy(next.distance / this.#pinch.distance, this.screen.onStage({ clientX: next.middle.x, clientY: next.middle.y }));
      this.#pinch = next;
      return;
    }
    const at = pointOf(event.touches[0]);
    if (!at) return;
    if (this.#mode === 'undecided') {
      const gesture = gestureOf(at.x - this.#start.x, at.y - this.#start.y);
      if (gesture === 'undecided') return;
      window.clearTimeout(this.#hold);
      if (gesture === 'drag') this.#take();
      else this.#mode = 'scroll';
    }
    if (this.#mode === 'drag') this.#mouse('move', at, { button: 'left', buttons: 1 });
    else if (this.#mode === 'scroll') {
      const { scale } = this.screen.view;
      this.#mouse('wheel', at, { deltaX: (this.#last.x - at.x) / scale, deltaY: (this.#last.y - at.y) / scale });
    }
    this.#last = at;
  }

  #end(event: TouchEvent): void {
    event.preventDefault();
    window.clearTimeout(this.#hold);
    if (this.#mode === 'undecided') this.#tap(event.timeStamp);
    this.#letGo();
    // After a pinch the finger that is left does nothing until it is lifted too.
    this.#mode = event.touches.length > 0 ? 'pinch' : 'idle';
    if (event.touches.length === 1) this.#mode = 'idle';
  }

  #tap(at: number): void {
    if (at - this.#tapAt < DOUBLE_TAP) {
      this.#tapAt = -Infinity;
      this.screen.toggleZoom(this.screen.onStage({ clientX: this.#start.x, clientY: this.#start.y }));
      return;
    }
    this.#tapAt = at;
    this.tapped();
    this.#mouse('move', this.#start);
    this.#mouse('down', this.#start, { button: 'left', buttons: 1, clickCount: 1 });
    this.#mouse('up', this.#start, { button: 'left', clickCount: 1 });
  }

  /** Presses the button where the finger came down. */
  #take(): void {
    this.#mode = 'drag';
    this.#mouse('move', this.#start);
    this.#mouse('down', this.#start, { button: 'left', buttons: 1, clickCount: 1 });
  }

  #letGo(): void {
    window.clearTimeout(this.#hold);
    if (this.#mode === 'drag') this.#mouse('up', this.#last, { button: 'left', clickCount: 1 });
  }

  #cancel(): void {
    this.#letGo();
    this.#mode = 'idle';
  }
}

function pointOf(touch: globalThis.Touch | undefined): Point | null {
  return touch ? { x: touch.clientX, y: touch.clientY } : null;
}

function pinchOf(touches: TouchList): { distance: number; middle: Point } {
  const a = pointOf(touches[0]) ?? { x: 0, y: 0 };
  const b = pointOf(touches[1]) ?? a;
  return { distance: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)), middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } };
}
