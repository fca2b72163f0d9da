/** Computes where the remote page is on the stage, and which point of the page is under a finger or the mouse. */

import type { Rect } from './protocol.js';

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

/** Returns the view that shows the whole page at the top of the stage, in the middle of its width, with its aspect ratio. */
export function fit(stage: Size, page: Size): View {
  const scale = Math.min(MAX_FIT, stage.width / page.width, stage.height / page.height);
  return {
    scale,
    x: (stage.width - page.width * scale) / 2,
    y: 0,
  };
}

/** Moves a view so that no edge of the page leaves an empty strip. A page that is narrower than the stage is in its middle, one that is lower at its top. */
export function clamp(view: View, stage: Size, page: Size): View {
  const axis = (offset: number, room: number, length: number, spare: number): number =>
    length <= room ? (room - length) * spare : Math.min(0, Math.max(room - length, offset));
  return {
    scale: view.scale,
    x: axis(view.x, stage.width, page.width * view.scale, 0.5),
    y: axis(view.y, stage.height, page.height * view.scale, 0),
  };
}

/** Zooms by a factor while the page's point under `at` (stage pixels) stays in place. */
export function zoom(view: View, factor: number, at: Point, stage: Size, page: Size): View {
  const least = fit(stage, page).scale;
  const scale = Math.min(Math.max(MAX_ZOOM, least), Math.max(least, view.scale * factor));
  const ratio = scale / view.scale;
  return clamp({ scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio }, stage, page);
}

/** A form field of the page: the caret in it, the field, what surrounds it from the inside, such as its form, and the size of its text. */
export interface Field { rect: Rect; element: Rect; around: Rect[]; text: number }

/** A field is shown so that its text has the first size (stage px). The second is enough where the whole page or a wide field is shown. */
const READABLE = 16;
const LEGIBLE = 12;
/** A page is not enlarged more than this to show a field. */
const MAX_FIELD = 1.25;
/** The empty room beside a field (stage px). */
const MARGIN = 16;

/**
 * Returns the view for typing into a field: its text is readable, as much of the form around it as possible fits the stage, and the field
 * is in the upper half of the stage. If the text is legible when the whole page is shown, that is the view.
 */
export function fitField({ rect, element, around, text }: Field, stage: Size, page: Size): View {
  const whole = fit(stage, page);
  const readable = Math.min(MAX_FIELD, READABLE / (text || READABLE));
  const legible = (readable * LEGIBLE) / READABLE;
  if (whole.scale >= legible) return whole;
  const scaleOf = ({ width }: Rect): number => Math.min(MAX_FIELD, (stage.width - 2 * MARGIN) / Math.max(1, width));
  const shown = [...around].reverse().find((area) => scaleOf(area) >= readable) ?? element;
  // Where the stage is low, the height of the form counts as well.
  const most = stage.width > stage.height ? Math.max(legible, (stage.height - 2 * MARGIN) / Math.max(1, shown.height)) : MAX_FIELD;
  const scale = Math.max(whole.scale, scaleOf(shown) >= legible ? Math.min(scaleOf(shown), most) : readable);
  const x = stage.width / 2 - (shown.x + shown.width / 2) * scale;
  const y = stage.height / 3 - (element.y + element.height / 2) * scale;
  return inSight(clamp({ scale, x, y }, stage, page), rect, stage, page);
}

/** Moves a view as little as possible, so that a rectangle of the page, or its start if it is too large, is inside the stage. */
export function inSight(view: View, rect: Rect, stage: Size, page: Size): View {
  const along = (offset: number, from: number, length: number, room: number): number => {
    const margin = Math.min(MARGIN, room / 4);
    const least = margin - from * view.scale;
    const most = room - margin - (from + length) * view.scale;
    return Math.max(Math.min(offset, most), least);
  };
  return clamp({ scale: view.scale, x: along(view.x, rect.x, rect.width, stage.width), y: along(view.y, rect.y, rect.height, stage.height) }, stage, page);
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
export function toWindow(glass: Box, page: Size, rect: Rect): Box {
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
