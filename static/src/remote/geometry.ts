/** Computes where the remote page is on the stage, and which point of the page is under a finger or the mouse. */

/** A size; the context gives its unit. */
export interface Size { width: number; height: number }
/** A point, from the top left corner. */
export interface Point { x: number; y: number }

/** Position of the page's top left corner on the stage, and stage pixels per page pixel. */
export interface View { scale: number; x: number; y: number }

/** A page is enlarged at most this much to fill a larger stage, because more only blurs it. */
export const MAX_FIT = 2;
/** Pinching stops at this many stage pixels per page pixel. */
export const MAX_ZOOM = 4;

/** Returns the view that shows the whole page, centred, with its aspect ratio. */
export function fit(stage: Size, page: Size): View {
  const scale = Math.min(MAX_FIT, stage.width / page.width, stage.height / page.height);
  return {
    scale,
    x: (stage.width - page.width * scale) / 2,
    y: (stage.height - page.height * scale) / 2,
  };
}

/** Moves a view so that no edge of the page leaves an empty strip. When the page is smaller than the stage along an axis, it is centred there. */
export function clamp(view: View, stage: Size, page: Size): View {
  const axis = (offset: number, room: number, length: number): number =>
    length <= room ? (room - length) / 2 : Math.min(0, Math.max(room - length, offset));
  return {
    scale: view.scale,
    x: axis(view.x, stage.width, page.width * view.scale),
    y: axis(view.y, stage.height, page.height * view.scale),
  };
}

/** Zooms by a factor while the page's point under `at` (stage pixels) stays in place. */
export function zoom(view: View, factor: number, at: Point, stage: Size, page: Size): View {
  const least = fit(stage, page).scale;
  const scale = Math.min(Math.max(MAX_ZOOM, least), Math.max(least, view.scale * factor));
  const ratio = scale / view.scale;
  return clamp({ scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio }, stage, page);
}

/** Zooms and moves so that a rectangle of the page is readable and inside the stage. */
export function reveal(view: View, rect: { x: number; y: number; width: number; height: number }, readable: number, stage: Size, page: Size): View {
  const margin = 16;
  const widest = (stage.width - 2 * margin) / Math.max(1, rect.width);
  const scale = Math.max(fit(stage, page).scale, view.scale, Math.min(readable, widest));
  const place = (offset: number, from: number, length: number, room: number): number => {
    const start = from * scale + offset;
    const end = start + length * scale;
    if (start >= margin && end <= room - margin) return offset;
    return (room - length * scale) / 2 - from * scale;
  };
  const ratio = scale / view.scale;
  return clamp({
    scale,
    x: place(view.x * ratio, rect.x, rect.width, stage.width),
    y: place(view.y * ratio, rect.y, rect.height, stage.height),
  }, stage, page);
}

/** A rectangle of the window, in CSS pixels. */
export interface Box extends Size { left: number; top: number }

/**
 * Converts a point of the window to CSS pixels of the page's viewport, rounded to a hundredth. `glass` is where the picture is shown in the window.
 * Outside the page, the result is negative or larger than the page.
 */
export function toPage(glass: Box, page: Size, at: Point): Point {
  const along = (from: number, length: number, pixels: number): number => Math.round((from * pixels * 100) / Math.max(1, length)) / 100;
  return { x: along(at.x - glass.left, glass.width, page.width), y: along(at.y - glass.top, glass.height, page.height) };
}

/** Converts a rectangle of the page to the window. */
export function toWindow(glass: Box, page: Size, rect: Point & Size): Box {
  const x = glass.width / page.width;
  const y = glass.height / page.height;
  return { left: glass.left + rect.x * x, top: glass.top + rect.y * y, width: rect.width * x, height: rect.height * y };
}

/** Returns whether a point is on the page. */
export function inside(point: Point, page: Size): boolean {
  return point.x >= 0 && point.y >= 0 && point.x < page.width && point.y < page.height;
}

/** Returns the nearest point on the page. */
export function nearest(point: Point, page: Size): Point {
  return {
    x: Math.min(Math.max(point.x, 0), page.width - 1),
    y: Math.min(Math.max(point.y, 0), page.height - 1),
  };
}
