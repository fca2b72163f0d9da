/**
 * Makes an element equal to another one by changing only what differs, so that focus, hover, selections and pictures survive a refresh. Children are
 * matched by `data-key`, otherwise by position. Elements with `data-keep` stay unchanged. Whether an element with `data-keep-hidden` is hidden, and
 * whether a menu is open, is decided on the page.
 */
export function morph(from: Element, to: Element): void {
  if (from.isEqualNode(to)) return;
  if (from.hasAttribute('data-keep') && to.hasAttribute('data-keep') && from.getAttribute('data-thumb') === to.getAttribute('data-thumb')) return;
  morphAttributes(from, to);
  morphChildren(from, to);
}

function morphAttributes(from: Element, to: Element): void {
  const own = (name: string): boolean => (name === 'hidden' && from.hasAttribute('data-keep-hidden')) || (name === 'aria-expanded' && from.hasAttribute('data-menu'));
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && name !== 'aria-busy' && name !== 'data-copied-link' && !own(name)) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (from.getAttribute(name) !== value && !own(name)) from.setAttribute(name, value);
  }
}

function keyOf(node: Node): string | null {
  return node instanceof Element ? node.getAttribute('data-key') : null;
}

function matches(a: Node, b: Node): boolean {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
}

function morphChildren(from: Element, to: Element): void {
  const keyed = new Map<string, Element>();
  for (const child of from.children) {
    const key = keyOf(child);
    if (key !== null) keyed.set(key, child);
  }
  let at: ChildNode | null = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const key = keyOf(wanted);
    let have: ChildNode | null = key === null ? at : (keyed.get(key) ?? null);
    if (key === null) while (have && !matches(have, wanted)) have = have.nextSibling;
    else if (have && !matches(have, wanted)) have = null;

    if (!have) {
      from.insertBefore(document.importNode(wanted, true), at);
      continue;
    }
    if (have === at) at = at.nextSibling;
    else from.insertBefore(have, at);
    if (have instanceof Element) morph(have, wanted as Element);
    else if (have.nodeValue !== wanted.nodeValue) have.nodeValue = wanted.nodeValue;
  }
  // Children without a match are now at the end.
  while (at) {
    const next: ChildNode | null = at.nextSibling;
    at.remove();
    at = next;
  }
}
