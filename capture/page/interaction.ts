/**
 * Reports what a user does in a page: clicks, keys and scrolls. It runs in an isolated world, where the page can neither see nor call it. It listens
 * passively, so that it changes nothing.
 */
import { isSecret } from './secret.ts';

/** As in interaction.go. */
const BINDING = '__takeoverCapture';

/** The reports of each kind in a second. */
const MOST = 20;
/** Scrolls within this time (ms) become one. */
const SCROLLING = 100;

interface Place { x: number; y: number }

const own = globalThis as typeof globalThis & { [BINDING]?: (report: string) => void; takeoverCaptures?: boolean };

const windows = new Map<string, { start: number; count: number }>();

function allowed(kind: string): boolean {
  const now = performance.now();
  let window = windows.get(kind);
  if (!window || now - window.start >= 1000) windows.set(kind, (window = { start: now, count: 0 }));
  return ++window.count <= MOST;
}

function report(kind: string, data: object): void {
  if (!allowed(kind)) return;
  try {
    own[BINDING]?.(JSON.stringify({ kind, t: Date.now(), ...data }));
  } catch {
    // It is switched off.
  }
}

/** Returns one step of a selector. */
function step(element: Element): string {
  const tag = element.localName;
  if (element.id && element.id.length < 100) return `${tag}#${CSS.escape(element.id)}`;
  for (const name of ['data-testid', 'name']) {
    const value = element.getAttribute(name);
    if (value && value.length < 100) return `${tag}[${name}=${JSON.stringify(value)}]`;
  }
  let nth = 1;
  let more = false;
  for (let e = element.previousElementSibling, n = 0; e && n < 1000; e = e.previousElementSibling, n++) if (e.localName === tag) nth++;
  for (let e = element.nextElementSibling, n = 0; e && !more && n < 1000; e = e.nextElementSibling, n++) more = e.localName === tag;
  return nth > 1 || more ? `${tag}:nth-of-type(${nth})` : tag;
}

function selector(element: Element): string {
  const path: string[] = [];
  for (let e: Element | null = element; e && path.length < 6; e = e.parentElement) {
    path.unshift(step(e));
    if (e.id || e === document.body) break;
  }
  return path.join(' > ');
}

function target(event: Event): Element {
  const first = event.composedPath()[0];
  if (first instanceof Element) return first;
  return event.target instanceof Element ? event.target : document.documentElement;
}

function text(element: Element): string {
  if (['input', 'textarea', 'select', 'html', 'body'].includes(element.localName) || (element as HTMLElement).isContentEditable) return '';
  if (element.getElementsByTagName('*').length > 50) return '';
  return (element.textContent ?? '').replace(/\s+/g, ' ').trim().slice(0, 100);
}

const places = new WeakMap<EventTarget, Place & { timer: number }>();

function position(at: Document | Element): Place {
  return at instanceof Document ? { x: scrollX, y: scrollY } : { x: at.scrollLeft, y: at.scrollTop };
}

function observe(): void {
  const passive = { capture: true, passive: true };
  addEventListener('click', (event) => {
    if (!event.isTrusted) return;
    const element = target(event);
    report('click', { x: event.clientX, y: event.clientY, selector: selector(element), tag: element.localName, text: text(element) });
  }, passive);

  addEventListener('keydown', (event) => {
    if (!event.isTrusted) return;
    const element = target(event);
    if (isSecret(element) || (document.activeElement && isSecret(document.activeElement))) return;
    // When the key was pressed. A busy page reports that late.
    const t = Date.now() - (performance.now() - event.timeStamp);
    report('key', { t, key: event.key, selector: selector(element), tag: element.localName });
  }, passive);

  places.set(document, { x: 0, y: 0, timer: 0 });
  addEventListener('scroll', ({ target: at }) => {
    if (!(at instanceof Document || at instanceof Element)) return;
    const place = places.get(at) ?? { x: 0, y: 0, timer: 0 };
    places.set(at, place);
    if (place.timer) return;
    place.timer = window.setTimeout(() => {
      place.timer = 0;
      const now = position(at);
      if (Math.abs(now.x - place.x) <= 5 && Math.abs(now.y - place.y) <= 5) return;
      report('scroll', { fromX: place.x, fromY: place.y, toX: now.x, toY: now.y, selector: at instanceof Document ? 'document' : selector(at) });
      place.x = now.x;
      place.y = now.y;
    }, SCROLLING);
  }, passive);
}

if (!own.takeoverCaptures) {
  own.takeoverCaptures = true;
  observe();
}
