import type { FilePayload, Point } from './injected.ts';

/** The dropped files and data. */
export interface Dropped { files: FilePayload[]; data?: Record<string, string>; position?: Point }

/** Drops files and data on an element. Returns false when the element does not accept them. */
export function drop(element: Element, o: Dropped): boolean {
  const transfer = new DataTransfer();
  for (const [type, text] of Object.entries(o.data ?? {}))
    transfer.setData(type, text);
  for (const f of o.files)
    transfer.items.add(fileOf(f));
  const box = element.getBoundingClientRect();
  const at = o.position ? { x: box.x + element.clientLeft + o.position.x, y: box.y + element.clientTop + o.position.y } : { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const tell = (type: string) => !element.dispatchEvent(new DragEvent(type, {
    bubbles: true, cancelable: type !== 'dragleave', composed: true, dataTransfer: transfer, clientX: at.x, clientY: at.y,
  }));
  tell('dragenter');
  if (!tell('dragover')) {
    tell('dragleave');
    return false;
  }
  tell('drop');
  return true;
}

function fileOf(f: FilePayload): File {
  const bytes = Uint8Array.from(atob(f.buffer), c => c.charCodeAt(0));
  return new File([bytes], f.name, { type: f.mimeType, lastModified: f.lastModifiedMs });
}
