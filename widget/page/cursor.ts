const HANDLES = /^(grab|grabbing|move|all-scroll|.*-resize)$/;

/** Returns whether a press on an element with this pointer begins a drag: on a slider, a handle, something that can be dropped elsewhere. */
export function drags(element: Element, shape: string): boolean {
  if (HANDLES.test(shape)) return true;
  for (let at: Element | null = element; at; at = at.parentElement) {
    if (at instanceof HTMLElement && (at.draggable && !(at instanceof HTMLAnchorElement || at instanceof HTMLImageElement) || at.role === 'slider')) return true;
    if (at instanceof HTMLInputElement) return at.type === 'range';
    // Only pages that handle fingers themselves set this.
    if (getComputedStyle(at).touchAction === 'none') return true;
  }
  return element instanceof HTMLCanvasElement;
}

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
