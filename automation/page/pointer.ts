import type { Injected, Interceptor, Point } from './injected.ts';
import { type Resolver, type Target } from './resolve.ts';
import { again, Fatal, type Task } from './task.ts';

export interface PointerOptions {
  /** The action's name in the log: click, dblclick, hover, tap, "move and down", … */
  name: string;
  kind: 'mouse' | 'hover' | 'tap' | 'drag';
  waitForEnabled: boolean;
  force?: boolean;
  trial?: boolean;
  position?: Point;
  /** none: do not scroll to the element. */
  scroll?: 'auto' | 'none';
  /** The number of an earlier attempt whose element is used again. */
  resume?: number;
  attempt?: number;
  /** For check and uncheck: skip the action if the element already has this state. */
  checked?: boolean;
}

/** Where to point, and the id under which the attempt is kept until finish. */
export interface Aim { id: number; x: number; y: number; attempt: number; done?: boolean }

interface Attempt { element: Element; interceptor?: Interceptor; arrival?: Arrival }

/** After a first try with Chromium's own scrolling, the alignment alternates, so that the element does not stay behind a sticky header. */
const scrolls: (ScrollIntoViewOptions | undefined)[] = [
  undefined,
  { block: 'end', inline: 'end' },
  { block: 'center', inline: 'center' },
  { block: 'start', inline: 'start' },
];

/** Smallest visible area, in CSS pixels, that can be pointed at. */
const leastArea = 0.99;

/** How far, in CSS pixels, an event of our own may be from the point that was aimed at. */
const nearby = 5;

/** Returns whether an event may be one of our own. With a page that is enlarged by fingers, coordinates do not tell. */
function isNear(event: Event, { x, y }: Point): boolean {
  const at = event instanceof MouseEvent ? event : (event as TouchEvent).changedTouches?.[0];
  if (!at || (globalThis.visualViewport?.scale ?? 1) !== 1)
    return true;
  return Math.abs(at.clientX - x) <= nearby && Math.abs(at.clientY - y) <= nearby;
}

/** Prepares pointer actions: everything up to the mouse movement. */
export class Pointer {
  private readonly attempts = new Map<number, Attempt>();
  private lastId = 0;

  constructor(private readonly injected: Injected, private readonly resolver: Resolver) {}

  /** Waits until the element can be pointed at, and guards against hitting another element. */
  async prepare(task: Task, target: Target, o: PointerOptions): Promise<Aim> {
    const resumed = o.resume === undefined ? undefined : this.attempts.get(o.resume);
    if (o.resume !== undefined)
      this.attempts.delete(o.resume);
    if (resumed?.element.isConnected) {
      const aim = await this.aim(task, resumed.element, target, o);
      if (aim !== again)
        return aim;
      this.resolver.detached(task, target, resumed.element);
    } else if (resumed) {
      this.resolver.detached(task, target, resumed.element);
    } else {
      this.resolver.announce(task, target);
    }
    return this.resolver.find(task, target, { frameVisible: !o.force }, async element => {
      if (o.checked !== undefined && this.isChecked(element, o.checked))
        return { id: 0, x: 0, y: 0, attempt: 0, done: true };
      const aim = await this.aim(task, element, target, o);
      return aim === again ? this.resolver.detached(task, target, element) : aim;
    });
  }

  private isChecked(element: Element, want: boolean): boolean {
    const state = this.injected.elementState(element, 'checked');
    if (state.matches === want)
      return true;
    if (!want && state.isRadio)
      throw new Fatal('Cannot uncheck radio button. Radio buttons can only be unchecked by selecting another radio button in the same group.');
    return false;
  }

  // Returns again if the element is gone.
  private async aim(task: Task, element: Element, target: Target, o: PointerOptions): Promise<Aim | typeof again> {
    const gone = Symbol('gone');
    const result = await task.tryAction<Aim | typeof gone>(o.name, o.attempt ?? 0, async attempt => {
      const scroll = () => {
        if (o.scroll !== 'none')
          this.scroll(element, scrolls[attempt % scrolls.length]);
      };
      if (inFrame()) // the outer scroll positions of a frame settle later
        scroll();
      if (!o.force) {
        const what = o.waitForEnabled ? 'visible, enabled and stable' : 'visible and stable';
        task.log.push(`  waiting for element to be ${what}`);
        const states = o.waitForEnabled ? ['visible', 'enabled', 'stable', 'non-inert'] : ['visible', 'stable'];
        const missing = await task.race(this.injected.checkElementStates(element, states, target.frameVisible ?? true));
        if (missing === 'error:notconnected')
          return gone;
        if (missing) {
          task.log.push(missingText(missing.missingState));
          return again;
        }
        task.log.push(`  element is ${what}`);
      }
      task.log.push('  scrolling into view if needed');
      if (!element.isConnected)
        return gone;
      if (!boxes(element).length)
        return this.cannot(task, o, 'not visible');
      scroll();
      task.log.push('  done scrolling');
      const point = this.point(element, o.position);
      if (!point)
        return this.cannot(task, o, 'outside of the viewport');
      const id = ++this.lastId;
      if (o.force) {
        task.log.push('  forcing action');
        this.attempts.set(id, { element });
        return { id, ...point, attempt };
      }
      const interceptor = this.injected.setupHitTargetInterceptor(element, o.kind, point, !!o.trial);
      if (interceptor === 'error:notconnected')
        return gone;
      if (typeof interceptor === 'string') {
        task.log.push(`  ${interceptor} intercepts pointer events`);
        return again;
      }
      this.attempts.set(id, { element, interceptor: this.near(interceptor, point), arrival: inFrame() ? new Arrival() : undefined });
      return { id, ...point, attempt };
    }, o.trial);
    return result === gone ? again : result as Aim;
  }

  /**
   * Limits an interceptor to events near the point that was aimed at. Other events come from a person who took control meanwhile: what they press must
   * not be held up.
   */
  private near(interceptor: Interceptor, point: Point): Interceptor {
    const check = this.injected._hitTargetInterceptor;
    const ours = (event: Event) => {
      if (isNear(event, point))
        check?.(event);
    };
    this.injected._hitTargetInterceptor = ours;
    return {
      stop: () => {
        if (this.injected._hitTargetInterceptor === ours)
          this.injected._hitTargetInterceptor = undefined;
        return interceptor.stop();
      },
    };
  }

  // Handles an element that cannot be pointed at now. A forced action fails; otherwise there is another attempt, because the element may change.
  private cannot(task: Task, o: PointerOptions, why: string): typeof again {
    if (o.force)
      throw new Fatal(`Element is ${why}`);
    task.log.push(`  element is ${why}`);
    return again;
  }

  /**
   * Ends an attempt. hit describes the element that was hit instead of the right one. lost means that no event came to a frame in a remote process. In
   * both cases, the attempt is kept for prepare's resume. With checked, wrongState says whether the element did not reach that state.
   */
  finish(id: number, checked?: boolean | null, remote?: boolean): { hit?: string; lost?: boolean; wrongState?: boolean } {
    const attempt = this.attempts.get(id);
    if (!attempt)
      return {};
    const lost = attempt.arrival && !attempt.arrival.stop() && remote;
    const result = attempt.interceptor?.stop() ?? 'done';
    if (result !== 'done')
      return { hit: result.hitTargetDescription };
    if (lost)
      return { lost };
    this.attempts.delete(id);
    if (checked == null)
      return {};
    return { wrongState: !this.injected.elementState(attempt.element, 'checked').matches === checked };
  }

  /** Ends an attempt without an action, and keeps it for prepare's resume. */
  abandon(id: number) {
    const attempt = this.attempts.get(id);
    attempt?.interceptor?.stop();
    attempt?.arrival?.stop();
  }

  scroll(element: Element, options: ScrollIntoViewOptions | undefined) {
    if (options)
      element.scrollIntoView({ ...options, behavior: 'instant' });
    else
      scrollIfNeeded(element);
  }

  // Returns the point, or undefined when no part of the element is in the viewport.
  private point(element: Element, position?: Point): Point | undefined {
    const { innerWidth, innerHeight } = globalThis;
    if (position) {
      const place = () => {
        const box = element.getBoundingClientRect();
        const border = this.injected.getElementBorderWidth(element);
        return { x: round(box.x + border.left + position.x), y: round(box.y + border.top + position.y) };
      };
      const p = place();
      if (p.x >= 0 && p.y >= 0 && p.x <= innerWidth && p.y <= innerHeight)
        return p;
      globalThis.scrollBy({ left: p.x - innerWidth / 2, top: p.y - innerHeight / 2, behavior: 'instant' });
      return place();
    }
    for (const r of boxes(element)) {
      const left = clamp(r.left, innerWidth), right = clamp(r.right, innerWidth);
      const top = clamp(r.top, innerHeight), bottom = clamp(r.bottom, innerHeight);
      if ((right - left) * (bottom - top) > leastArea)
        return { x: round((left + right) / 2), y: round((top + bottom) / 2) };
    }
    return undefined;
  }
}

/** Returns the boxes of an element, or those of its contents if it has none. */
function boxes(element: Element): ArrayLike<DOMRect> & Iterable<DOMRect> {
  const own = element.getClientRects();
  if (own.length || getComputedStyle(element).display !== 'contents')
    return own;
  const contents = document.createRange();
  contents.selectNodeContents(element);
  return contents.getClientRects();
}

/**
 * Watches whether pointer events reach this document. The browser sends them to the process that it believes to be at the point, which may be wrong
 * shortly after a frame in another process has moved.
 */
class Arrival {
  private readonly types = ['pointermove', 'pointerdown', 'touchstart'] as const;
  private seen = false;
  private readonly note = (e: Event) => { this.seen ||= e.isTrusted; };

  constructor() {
    for (const type of this.types)
      window.addEventListener(type, this.note, { capture: true, passive: true });
  }

  stop(): boolean {
    for (const type of this.types)
      window.removeEventListener(type, this.note, { capture: true });
    return this.seen;
  }
}

const inFrame = () => window.parent !== window;

/** Returns the line of the log for a state that an element does not have. */
export function missingText(state: string): string {
  return state === 'non-inert' ? '  element is inert' : `  element is not ${state}`;
}

// Scrolls as Chromium does, which centres the element. The page moves at once, whatever scroll-behavior it asks for, because a point is computed
// right after the scrolling.
function scrollIfNeeded(element: Element) {
  const root = element.ownerDocument.documentElement as HTMLElement;
  const smooth = getComputedStyle(root).scrollBehavior === 'smooth';
  if (!smooth) {
    (element as Element & { scrollIntoViewIfNeeded(center: boolean): void }).scrollIntoViewIfNeeded(true);
    return;
  }
  const r = element.getBoundingClientRect();
  if (r.top < 0 || r.left < 0 || r.bottom > globalThis.innerHeight || r.right > globalThis.innerWidth)
    element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
}

const clamp = (v: number, max: number) => Math.min(Math.max(v, 0), max);
const round = (v: number) => Math.trunc(v * 100) / 100;
