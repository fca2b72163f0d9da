/** Returns the shape of the pointer over an element, as a CSS keyword. */
export function cursorAt(element: Element, x: number, y: number): string {
  // The last item of a list is always a keyword; the items before it are pictures.
  const shape = getComputedStyle(element).cursor.split(',').pop()?.trim() ?? '';
  return shape === 'auto' ? automatic(element, x, y) : shape;
}

const FIELDS = /^(text|password|email|tel|number|url|search)$/;

/** Returns Chromium's meaning of `auto`: a text cursor over text that can be selected or edited. */
function automatic(element: Element, x: number, y: number): string {
  if (element instanceof HTMLTextAreaElement) return 'text';
  if (element instanceof HTMLInputElement) return FIELDS.test(element.type) && !element.disabled ? 'text' : 'default';
  if (element instanceof HTMLElement && element.isContentEditable) return 'text';
  const root = element.getRootNode();
  const position = document.caretPositionFromPoint(x, y, root instanceof ShadowRoot ? { shadowRoots: [root] } : {});
  const node = position?.offsetNode;
  if (!(node instanceof Text) || getComputedStyle(element).userSelect === 'none') return 'default';
  // Chromium returns the nearest text, however far away.
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const box of range.getClientRects()) {
    if (x >= box.left && x < box.right && y >= box.top && y < box.bottom) return 'text';
  }
  return 'default';
}
