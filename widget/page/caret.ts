type Box = [x: number, y: number, width: number, height: number];

/** Returns the position of the caret or, if none is found, of the whole element: x, y, width, height in this document's viewport. */
export function caretOf(element: Element): Box {
  const box = element.getBoundingClientRect();
  const caret = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? caretInField(element, box) : caretInText();
  return (caret ?? [box.x, box.y, box.width, box.height]).map((value) => Math.round(value * 10) / 10) as Box;
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
