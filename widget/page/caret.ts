export type Box = [x: number, y: number, width: number, height: number];

/** The maximum number of boxes around a field that are reported; the server has the same bound. */
const MAX_AROUND = 6;

/** Where a field is, in CSS pixels of this document's viewport. */
export interface Place {
  /** The caret or, if none is found, the field. */
  rect: Box;
  /** The field. */
  element: Box;
  /** What surrounds the field, such as its form, from the inside: each box is wider than the one before. */
  around: Box[];
  /** The size of the field's text. */
  text: number;
}

/** Returns where a field is. */
export function placeOf(field: Element): Place {
  const box = field.getBoundingClientRect();
  const around: Box[] = [];
  let { left, right } = box;
  for (let outer = parentOf(field); outer && around.length < MAX_AROUND; outer = parentOf(outer)) {
    const now = outer.getBoundingClientRect();
    if (now.left > left || now.right < right || now.width <= right - left) continue;
    ({ left, right } = now);
    around.push(boxOf(now));
  }
  return { rect: caretOf(field, box), element: boxOf(box), around, text: parseFloat(getComputedStyle(field).fontSize) || 0 };
}

/** Returns the parent of an element, also across the edge of a shadow tree. */
function parentOf(element: Element): Element | null {
  const parent = element.parentNode;
  return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
}

function boxOf({ x, y, width, height }: DOMRect): Box {
  return [x, y, width, height].map(round) as Box;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function caretOf(element: Element, box: DOMRect): Box {
  const caret = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? caretInField(element, box) : caretInText();
  return caret ? caret.map(round) as Box : boxOf(box);
}

function caretInText(): Box | null {
  const selection = getSelection();
  if (!selection?.rangeCount) return null;
  const range = selection.getRangeAt(0).cloneRange();
  range.collapse(false);
  const box = [...range.getClientRects()].pop();
  return box ? [box.x, box.y, box.width, box.height] : null;
}

/**
 * Returns the smallest integer from `low` on for which `holds` returns true, or `high` if there is none. It assumes that `holds` returns true for all
 * larger ones.
 */
function first(low: number, high: number, holds: (value: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Returns the caret of a field. The DOM cannot measure a field's text, so this asks which character is at a point: first down the lines, then along
 * one line.
 */
function caretInField(field: HTMLInputElement | HTMLTextAreaElement, box: DOMRect): Box | null {
  const target = field.selectionEnd;
  if (target === null) return null;
  const style = getComputedStyle(field);
  const px = (value: string): number => parseFloat(value) || 0;
  const left = Math.ceil(box.x + px(style.borderLeftWidth) + px(style.paddingLeft));
  const right = Math.floor(box.right - px(style.borderRightWidth) - px(style.paddingRight)) - 1;
  const size = px(style.fontSize);
  const height = px(style.lineHeight) || size * 1.2;
  const root = field.getRootNode();
  const options = root instanceof ShadowRoot ? { shadowRoots: [root] } : {};
  const offsetAt = (x: number, y: number): number => {
    const position = document.caretPositionFromPoint(x, y, options);
    return position?.offsetNode === field ? position.offset : NaN;
  };
  let y = box.y + box.height / 2;
  if (field instanceof HTMLTextAreaElement) {
    const top = Math.ceil(box.y + px(style.borderTopWidth) + px(style.paddingTop));
    const bottom = Math.floor(box.bottom - px(style.borderBottomWidth)) - 1;
    // Below the last line, every point belongs to the end of the text, and so does an empty last line.
    const atEnd = target === field.value.length;
    const next = first(top, bottom, (at) => offsetAt(left, at) > target || (atEnd && offsetAt(left, at) === target));
    y = next + (atEnd && /(^|\n)$/.test(field.value) ? height : -height) / 2;
  }
  if (Number.isNaN(offsetAt(left, y))) return null;
  const from = first(left, right, (x) => offsetAt(x, y) >= target);
  const to = first(from, right, (x) => offsetAt(x, y) > target);
  // The area of a character begins half a character earlier, so the caret is between two middles.
  const x = from === left ? left : to === right ? Math.min(from + size / 4, right) : (from + to) / 2;
  return [x, y - height / 2, 1, height];
}
