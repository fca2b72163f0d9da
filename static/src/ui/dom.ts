/**
 * Creates and finds elements. Text is always set as text and never parsed, because page titles, console output and addresses come from untrusted
 * pages.
 */

type Child = Node | string | number | null | undefined | false;

interface Props {
  class?: string;
  text?: string;
  on?: Partial<{ [K in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[K]) => void }>;
  [attribute: string]: unknown;
}

/** Creates an element. `true` sets an attribute without a value; `false` and `null` omit it. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === 'text') element.textContent = String(value);
    else if (name === 'on') {
      for (const [event, listener] of Object.entries(value as object)) element.addEventListener(event, listener);
    } else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Longer texts break anywhere. */
const BREAKS = 400;

/** Cuts a text where it may break: after the signs of addresses and of code, rather than inside their words. As in web/views/breakable.go. */
export function pieces(text: string): string[] {
  return text.length > BREAKS ? [text] : text.split(/(?<=[/,(&?=])(?=[^\s/])|(?<=\.)(?=[^\s/\d])/);
}

/** Returns a text that breaks there. */
export function breakable(text: string): (Node | string)[] {
  return pieces(text).flatMap((part, i) => (i === 0 ? [part] : [h('wbr'), part]));
}

/** Creates an icon of the page's sprite. It is decorative, because there is always a text beside it or in a label. */
export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Returns the element with this id, which must exist. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

/** Returns the element with this id, if the page has it. */
export function maybeById<T extends HTMLElement = HTMLElement>(id: string): T | null {
  return document.getElementById(id) as T | null;
}

/** Shows or hides an element without touching its styles. */
export function show(element: HTMLElement | null, shown: boolean): void {
  if (element && element.hidden === shown) element.hidden = !shown;
}

/** Sets text only when it differs, so that screen readers and selections are not disturbed. */
export function setText(element: Element | null, text: string): void {
  if (element && element.textContent !== text) element.textContent = text;
}
