import { inside, nearest, type Point } from './geometry.js';
import { MODIFIER, type MouseButton, type MouseMessage } from './protocol.js';
import type { Screen } from './screen.js';

const BUTTONS: MouseButton[] = ['left', 'middle', 'right', 'back', 'forward'];
/** Bits of MouseEvent.buttons for each MouseEvent.button. */
const BUTTON_BITS = [1, 4, 2, 8, 16];

/** Presses of one button within this time (ms) and distance (CSS px) count as double or triple clicks. */
const MULTI_CLICK_TIME = 500;
const MULTI_CLICK_DISTANCE = 5;

/** Pixels for a line and a page of WheelEvent, when a browser does not report pixels. */
const WHEEL_LINE = 40;
const WHEEL_PAGE = 600;

/** Returns the modifiers held during an event, as bits of MODIFIER. */
export function modifiersOf(event: { altKey: boolean; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): number {
  return (event.altKey ? MODIFIER.alt : 0) | (event.ctrlKey ? MODIFIER.ctrl : 0) | (event.metaKey ? MODIFIER.meta : 0) | (event.shiftKey ? MODIFIER.shift : 0);
}

/** Returns wheel movement in pixels, whatever unit the browser reports. */
export function wheelPixels(delta: number, mode: number): number {
  if (mode === 1) return delta * WHEEL_LINE;
  if (mode === 2) return delta * WHEEL_PAGE;
  return delta;
}

/** Counts clicks as a desktop does: same button, soon after each other, at about the same point. */
export class ClickCounter {
  #button = -1;
  #count = 0;
  #at = 0;
  #point: Point = { x: 0, y: 0 };

  press(button: number, point: Point, at: number): number {
    const near = Math.abs(point.x - this.#point.x) <= MULTI_CLICK_DISTANCE && Math.abs(point.y - this.#point.y) <= MULTI_CLICK_DISTANCE;
    this.#count = button === this.#button && near && at - this.#at <= MULTI_CLICK_TIME ? this.#count + 1 : 1;
    this.#button = button;
    this.#at = at;
    this.#point = point;
    return this.#count;
  }

  /** Returns the click count for the release of a button. */
  get count(): number {
    return Math.max(1, this.#count);
  }
}

/**
 * Keeps moves and wheel turns until the next animation frame: the newest position counts, and wheel turns add up. Anything else is sent at once,
 * after what was kept, so that a click happens where the pointer was.
 */
export class Coalescer {
  #kept: MouseMessage | null = null;
  #scheduled = false;

  constructor(private readonly send: (message: MouseMessage) => void, private readonly schedule: (flush: () => void) => void) {}

  push(message: MouseMessage): void {
    if (message.event !== 'move' && message.event !== 'wheel') {
      this.flush();
      this.send(message);
      return;
    }
    if (this.#kept && (this.#kept.event !== message.event || this.#kept.modifiers !== message.modifiers)) this.flush();
    if (this.#kept && message.event === 'wheel') {
      message = { ...message, deltaX: message.deltaX + this.#kept.deltaX, deltaY: message.deltaY + this.#kept.deltaY };
    }
    this.#kept = message;
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.schedule(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  flush(): void {
    const kept = this.#kept;
    this.#kept = null;
    if (kept) this.send(kept);
  }
}

/** Mouse and pen on the canvas. touch.ts handles fingers. */
export class Pointer {
  #coalescer: Coalescer;
  #clicks = new ClickCounter();
  #held = 0;
  #last: Point = { x: 0, y: 0 };

  constructor(private readonly screen: Screen, send: (message: MouseMessage) => void, private readonly pressed: () => void) {
    this.#coalescer = new Coalescer(send, (flush) => requestAnimationFrame(flush));
    const surface = screen.frame;
    surface.addEventListener('pointerdown', (event) => this.#down(event));
    surface.addEventListener('pointermove', (event) => this.#move(event));
    surface.addEventListener('pointerup', (event) => this.#up(event));
    surface.addEventListener('pointercancel', () => this.release());
    surface.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    // The context menu, middle-click scrolling, and the mouse's back and forward buttons are for the remote page.
    surface.addEventListener('contextmenu', (event) => event.preventDefault());
    surface.addEventListener('mousedown', (event) => event.preventDefault());
    surface.addEventListener('mouseup', (event) => event.preventDefault());
    surface.addEventListener('auxclick', (event) => event.preventDefault());
    surface.addEventListener('dragstart', (event) => event.preventDefault());
    window.addEventListener('blur', () => this.release());
  }

  #message(kind: MouseMessage['event'], event: MouseEvent, point: Point): MouseMessage {
    return { type: 'mouse', event: kind, ...point, button: 'none', buttons: event.buttons, clickCount: 0, modifiers: modifiersOf(event), deltaX: 0, deltaY: 0 };
  }

  #down(event: PointerEvent): void {
    if (event.pointerType === 'touch') return;
    this.pressed();
    this.#button('down', event, event.button);
    this.screen.frame.setPointerCapture(event.pointerId);
  }

  #move(event: PointerEvent): void {
    if (event.pointerType === 'touch') return;
    // A second button that is pressed or released while one is held is reported as a move.
    if (event.button >= 0) {
      const bit = BUTTON_BITS[event.button] ?? 0;
      this.#button(event.buttons & bit ? 'down' : 'up', event, event.button);
      return;
    }
    const point = this.screen.toPage(event);
    if (!this.#held && !inside(point, this.screen.page)) return;
    this.#last = point;
    this.#coalescer.push({ ...this.#message('move', event, point), button: heldButton(event.buttons) });
  }

  #up(event: PointerEvent): void {
    if (event.pointerType === 'touch') return;
    this.#button('up', event, event.button);
  }

  #button(kind: 'down' | 'up', event: PointerEvent, button: number): void {
    const name = BUTTONS[button];
    if (!name) return;
    const bit = BUTTON_BITS[button] ?? 0;
    if (kind === 'up' && !(this.#held & bit)) return;
    this.#held = kind === 'down' ? this.#held | bit : this.#held & ~bit;
    const point = kind === 'down' ? nearest(this.screen.toPage(event), this.screen.page) : this.screen.toPage(event);
    const clickCount = kind === 'down' ? this.#clicks.press(button, { x: event.clientX, y: event.clientY }, event.timeStamp) : this.#clicks.count;
    this.#last = point;
    this.#coalescer.push({ ...this.#message(kind, event, point), button: name, buttons: this.#held, clickCount, ...(kind === 'down' ? { tab: this.screen.tab } : {}) });
  }

  #wheel(event: WheelEvent): void {
    // With Ctrl, or a pinch on a touchpad, this page would zoom. Remote pages zoom themselves, as maps do.
    event.preventDefault();
    const point = nearest(this.screen.toPage(event), this.screen.page);
    this.#coalescer.push({
      ...this.#message('wheel', event, point),
      deltaX: wheelPixels(event.deltaX, event.deltaMode),
      deltaY: wheelPixels(event.deltaY, event.deltaMode),
    });
  }

  /** Releases every held button, for example when the window loses the focus. */
  release(): void {
    for (const [button, bit] of BUTTON_BITS.entries()) {
      if (!(this.#held & bit)) continue;
      this.#held &= ~bit;
      this.#coalescer.push({
        type: 'mouse', event: 'up', ...this.#last, button: BUTTONS[button] ?? 'left', buttons: this.#held,
        clickCount: this.#clicks.count, modifiers: 0, deltaX: 0, deltaY: 0,
      });
    }
  }
}

/** Returns the button of a drag. */
export function heldButton(buttons: number): MouseButton {
  for (const [button, bit] of BUTTON_BITS.entries()) {
    if (buttons & bit) return BUTTONS[button] ?? 'none';
  }
  return 'none';
}
