import { nearest, type Point } from './geometry.js';
import { modifiersOf } from './pointer.js';
import { MODIFIER, type MouseMessage, type TouchMessage, type TouchPoint } from './protocol.js';
import type { Screen } from './screen.js';

/** A finger that moves less than this (CSS px) makes a tap. */
const SLOP = 8;
/** A finger that rests this long (ms) presses what is under it. */
const HOLD = 350;
/** Two taps within this time (ms) and distance (CSS px) are a double tap. Taps on two keys are further apart. */
const DOUBLE_TAP = 250;
const DOUBLE_TAP_REACH = 24;
/** Two fingers that are down for less than this (ms) make a tap of two. */
const TAP_OF_TWO = 300;
/** How far the wheel turns (CSS px) with Ctrl when the distance of two fingers grows by the factor e, as Chromium reports a pinch on a touchpad. */
const PINCH_WHEEL = 100;
/** What begins a drag at one point does so within this distance (CSS px of the page). */
const HANDLE = 40;
/** How late (ms) the page may say that the finger began on a handle. Until then, the finger has moved the picture. */
const LATE = 2_000;

/** Returns the meaning of a moving finger: a sideways move drags, for example a slider; a move up or down scrolls. */
export function gestureOf(dx: number, dy: number): 'undecided' | 'drag' | 'scroll' {
  if (Math.hypot(dx, dy) < SLOP) return 'undecided';
  return Math.abs(dx) >= Math.abs(dy) ? 'drag' : 'scroll';
}

/** The largest size of a finger that is reported (CSS px of the page). */
const LARGEST = 500;

type Mode = 'page' | 'idle' | 'undecided' | 'drag' | 'pan' | 'pan or scroll' | 'scroll' | 'pinch';

/**
 * Handles fingers. On a page made for touch, they stay fingers. On other pages, one finger acts as the mouse: a tap clicks, a sideways move or a move
 * after a short rest drags, and a move up or down scrolls. On an enlarged picture, one finger moves the picture, except from a slider or another handle,
 * and scrolls the page at the picture's edge. Two fingers move and zoom only the view on this side. The exception is a page made for touch that is
 * shown whole at a readable size, which gets both fingers; on others, two fingers zoom what zooms itself, such as a map, once it is shown at a readable
 * size.
 *
 * On a picture that is too small to read, two taps enlarge it, so a tap there waits until it is the only one. Elsewhere two taps are a double click.
 */
export class Touch {
  #mode: Mode = 'idle';
  /** Where the finger began and where it is: on the window, and on the page as it was shown then. */
  #start: Spot = NOWHERE;
  #last: Spot = NOWHERE;
  #hold = 0;
  #lastTap: { at: number; place: Point } | null = null;
  /** A tap that waits, because it may be the first of two; and its timer. */
  #tapWaits: { at: number; spot: Spot } | null = null;
  #tapTimer = 0;
  /** The last point of the page at which a press begins a drag. */
  #handle: Point | null = null;
  /** When the finger began (ms), how far it has moved the picture (CSS px), and whether something else than where it began was sent to the page. */
  #pans = { began: 0, x: 0, y: 0, sent: false };
  /** When something was sent to the page last (ms). */
  #sentAt = -Infinity;
  /** Two fingers whose touch may become a tap. */
  #pair: { at: number; distance: number; middle: Point; spot: Spot } | null = null;
  #pinch = { distance: 0, middle: { x: 0, y: 0 } };
  /** Two fingers zoom the remote page, not the view; null until they move. */
  #zoomsPage: boolean | null = null;

  constructor(private readonly screen: Screen, private readonly send: (message: MouseMessage | TouchMessage) => void, private readonly tapped: () => void, private readonly real: () => boolean) {
    const { stage } = screen;
    stage.addEventListener('touchstart', (event) => this.#begin(event), { passive: false });
    stage.addEventListener('touchmove', (event) => this.#move(event), { passive: false });
    stage.addEventListener('touchend', (event) => this.#end(event), { passive: false });
    stage.addEventListener('touchcancel', () => this.#cancel());
    window.addEventListener('blur', () => this.#cancel());
  }

  /** Whether the finger began where a press begins a drag. */
  get #onHandle(): boolean {
    const { point } = this.#start;
    return this.#handle !== null && Math.hypot(point.x - this.#handle.x, point.y - this.#handle.y) <= HANDLE;
  }

  /** Takes in whether a press under the remote pointer begins a drag. */
  pointed(drag: boolean): void {
    // Without a finger down, the answer belongs to an earlier touch.
    if (this.#mode !== 'idle') this.#handle = drag ? this.#start.point : null;
    if (drag) this.#takeLate();
    this.screen.stage.toggleAttribute('data-handle', drag);
  }

  /** Sends the tap that waits, because other input follows it. */
  flush(): void {
    this.#tapAlone();
  }

  /** The fingers on the picture. Others may rest on the buttons around it. */
  #fingers({ touches }: TouchEvent): globalThis.Touch[] {
    return [...touches].filter(({ target }) => target instanceof Node && this.screen.stage.contains(target));
  }

  #spot(at: Point): Spot {
    return { at, point: this.screen.toPage({ clientX: at.x, clientY: at.y }), tab: this.screen.tab };
  }

  #mouse(event: MouseMessage['event'], { point, tab }: Spot, extra: Partial<MouseMessage> = {}): void {
    this.#sentAt = performance.now();
    const onPage = event === 'move' || event === 'up' ? point : nearest(point, this.screen.page);
    this.send({ type: 'mouse', event, ...onPage, button: 'none', buttons: 0, clickCount: 0, modifiers: 0, deltaX: 0, deltaY: 0, ...(event === 'down' ? { tab } : {}), ...extra });
  }

  #begin(event: TouchEvent): void {
    event.preventDefault();
    const fingers = this.#fingers(event);
    if (this.#tapWaits && event.timeStamp - this.#tapWaits.at >= DOUBLE_TAP) this.#tapAlone();
    this.screen.hold();
    if (this.#mode === 'idle' && this.real()) this.#mode = 'page';
    if (this.#mode === 'page' && (fingers.length === 1 || this.screen.fitted && !this.screen.small)) return this.#pass('start', event);
    if (fingers.length >= 2) {
      this.#tapAlone();
      this.#letGo();
      if (this.#mode === 'idle') this.#handle = null; // both came down at once
      this.#mode = 'pinch';
      this.#zoomsPage = null;
      this.#pinch = pinchOf(fingers);
      this.#pair = fingers.length === 2 ? { at: event.timeStamp, ...this.#pinch, spot: this.#spot(this.#pinch.middle) } : null;
      return;
    }
    this.#pair = null;
    const at = pointOf(fingers[0]);
    if (!at) return;
    this.#mode = 'undecided';
    this.#start = this.#last = this.#spot(at);
    const began = performance.now();
    this.#pans = { began, x: 0, y: 0, sent: began - this.#sentAt < LATE }; // an answer may be one to that
    this.screen.stage.toggleAttribute('data-handle', this.#onHandle);
    // The page tells whether something can be dragged there.
    if (!this.screen.fitted || !this.screen.small) this.#mouse('move', this.#start);
    this.#hold = window.setTimeout(() => {
      if (this.#mode !== 'undecided') return;
      this.#take();
      navigator.vibrate?.(10);
    }, HOLD);
  }

  #move(event: TouchEvent): void {
    event.preventDefault();
    const fingers = this.#fingers(event);
    if (this.#mode === 'page') return this.#pass('move', event);
    if (this.#mode === 'pinch') {
      if (fingers.length < 2) return;
      const next = pinchOf(fingers);
      if (this.#pair && Math.max(Math.abs(next.distance - this.#pair.distance), Math.hypot(next.middle.x - this.#pair.middle.x, next.middle.y - this.#pair.middle.y)) > 2 * SLOP) this.#pair = null;
      this.#zoomsPage ??= this.screen.readable && this.#onHandle;
      if (this.#zoomsPage) {
        const deltaY = -PINCH_WHEEL * Math.log(next.distance / this.#pinch.distance);
        if (deltaY) this.#mouse('wheel', this.#spot(next.middle), { deltaY, modifiers: MODIFIER.ctrl });
        this.#pinch = next;
        return;
      }
      this.screen.panBy(next.middle.x - this.#pinch.middle.x, next.middle.y - this.#pinch.middle.y);
      this.screen.zoomBy(next.distance / this.#pinch.distance, next.middle);
      this.#pinch = next;
      return;
    }
    const at = pointOf(fingers[0]);
    if (!at) return;
    if (this.#mode === 'undecided') {
      const gesture = gestureOf(at.x - this.#start.at.x, at.y - this.#start.at.y);
      if (gesture === 'undecided') return;
      window.clearTimeout(this.#hold);
      this.#tapAlone();
      if (this.#onHandle) this.#take();
      else if (!this.screen.fitted) this.#mode = gesture === 'drag' ? 'pan' : 'pan or scroll';
      else if (gesture === 'drag') this.#take();
      else this.#mode = 'scroll';
    }
    if (this.#mode === 'pan' || this.#mode === 'pan or scroll') return this.#pan(at);
    const spot = this.#spot(at);
    if (this.#mode === 'drag') this.#mouse('move', spot, { button: 'left', buttons: 1 });
    else if (this.#mode === 'scroll') this.#mouse('wheel', spot, { deltaX: this.#last.point.x - spot.point.x, deltaY: this.#last.point.y - spot.point.y });
    this.#last = spot;
  }

  #end(event: TouchEvent): void {
    event.preventDefault();
    const fingers = this.#fingers(event);
    if (this.#mode === 'page') {
      this.tapped();
      this.#pass('end', event);
      if (fingers.length === 0) this.#rest();
      return;
    }
    window.clearTimeout(this.#hold);
    if (this.#pair && fingers.length === 0) this.#tapOfTwo(event.timeStamp);
    if (this.#mode === 'undecided') this.#tap(event.timeStamp);
    this.#letGo();
    // After a pinch, the remaining finger does nothing until it is lifted too.
    this.#mode = fingers.length > 1 ? 'pinch' : 'idle';
    if (fingers.length === 0) this.#rest();
  }

  /** Moves the picture with the finger. What the picture's upper or lower edge holds back scrolls the page, if the finger began up or down. */
  #pan(at: Point): void {
    const dy = at.y - this.#last.at.y;
    const moved = this.screen.panBy(at.x - this.#last.at.x, dy);
    this.#pans.x += moved.x;
    this.#pans.y += moved.y;
    const left = dy - moved.y;
    const spot = this.#spot(at);
    if (this.#mode === 'pan or scroll' && Math.abs(left) >= 0.5) {
      this.#pans.sent = true;
      this.#mouse('wheel', spot, { deltaX: 0, deltaY: -left / this.screen.view.scale });
    }
    this.#last = spot;
  }

  #tap(at: number): void {
    const last = this.#lastTap;
    const again = last !== null && at - last.at < DOUBLE_TAP && Math.hypot(this.#start.at.x - last.place.x, this.#start.at.y - last.place.y) <= DOUBLE_TAP_REACH;
    this.#lastTap = again ? null : { at, place: this.#start.at };
    if (again && this.#tapWaits) {
      window.clearTimeout(this.#tapTimer);
      this.#tapWaits = null;
      this.screen.zoomIn(this.#start.at);
      return;
    }
    this.tapped();
    if (this.screen.fitted && this.screen.small) {
      this.#tapAlone();
      this.#tapWaits = { at, spot: this.#start };
      this.#tapTimer = window.setTimeout(() => this.#tapAlone(), DOUBLE_TAP);
    } else this.#click(this.#start, again ? 2 : 1);
  }

  /** Presses where a tap waits, because it was the only one. */
  #tapAlone(): void {
    window.clearTimeout(this.#tapTimer);
    const waits = this.#tapWaits;
    this.#tapWaits = null;
    if (waits) this.#click(waits.spot, 1);
  }

  #click(spot: Spot, clickCount: number): void {
    this.#mouse('move', spot);
    this.#mouse('down', spot, { button: 'left', buttons: 1, clickCount });
    this.#mouse('up', spot, { button: 'left', clickCount });
  }

  /** Presses the right button at the point between the two fingers of a tap. */
  #tapOfTwo(at: number): void {
    const pair = this.#pair;
    this.#pair = null;
    if (!pair || at - pair.at > TAP_OF_TWO) return;
    this.#mouse('move', pair.spot);
    this.#mouse('down', pair.spot, { button: 'right', buttons: 2, clickCount: 1 });
    this.#mouse('up', pair.spot, { button: 'right', clickCount: 1 });
  }

  /** Presses the button where the finger first touched. */
  #take(): void {
    this.#mode = 'drag';
    this.#mouse('move', this.#start);
    this.#mouse('down', this.#start, { button: 'left', buttons: 1, clickCount: 1 });
  }

  /** Moves the picture back and drags instead, as the finger began on a handle. On a slow line, the page says so only now. */
  #takeLate(): void {
    const { began, x, y, sent } = this.#pans;
    if (this.#mode !== 'pan' && this.#mode !== 'pan or scroll' || sent || performance.now() - began > LATE) return;
    this.screen.panBy(-x, -y);
    this.#take();
    this.#last = this.#spot(this.#last.at);
    this.#mouse('move', this.#last, { button: 'left', buttons: 1 });
  }

  /** Sends fingers unchanged. */
  #pass(kind: 'start' | 'move' | 'end', event: TouchEvent): void {
    const { page, view, tab } = this.screen;
    const points: TouchPoint[] = [...event.changedTouches].map((touch) => {
      const at = this.screen.toPage(touch);
      const radius = (length: number): number => Math.min(LARGEST, Math.max(0, length / view.scale));
      return { id: touch.identifier, ...(kind === 'start' ? nearest(at, page) : at), radiusX: radius(touch.radiusX), radiusY: radius(touch.radiusY), force: Math.min(1, Math.max(0, touch.force)) };
    });
    this.send({ type: 'touch', event: kind, points, modifiers: modifiersOf(event), ...(kind === 'start' ? { tab } : {}) });
  }

  #letGo(): void {
    window.clearTimeout(this.#hold);
    if (this.#mode === 'page') this.send({ type: 'touch', event: 'cancel', points: [], modifiers: 0 });
    if (this.#mode === 'drag') this.#mouse('up', this.#last, { button: 'left', clickCount: 1 });
  }

  #cancel(): void {
    this.#pair = null;
    this.#letGo();
    this.#rest();
  }

  /** No finger is down any more. */
  #rest(): void {
    this.#mode = 'idle';
    this.screen.release();
  }
}

/** A point of the window, and the point of the page and its tab that were there. */
interface Spot { at: Point; point: Point; tab: number }

const NOWHERE: Spot = { at: { x: 0, y: 0 }, point: { x: 0, y: 0 }, tab: 0 };

function pointOf(touch: globalThis.Touch | undefined): Point | null {
  return touch ? { x: touch.clientX, y: touch.clientY } : null;
}

function pinchOf(touches: globalThis.Touch[]): { distance: number; middle: Point } {
  const a = pointOf(touches[0]) ?? { x: 0, y: 0 };
  const b = pointOf(touches[1]) ?? a;
  return { distance: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)), middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } };
}
