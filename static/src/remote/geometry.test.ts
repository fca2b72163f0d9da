import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clamp, fit, inside, MAX_FIT, MAX_ZOOM, nearest, reveal, toPage, toWindow, zoom, type View } from './geometry.js';

const page = { width: 1280, height: 720 };
const phone = { width: 390, height: 500 };
/** Where a view shows the page if the stage begins at the window's corner. */
const glass = (view: View) => ({ left: view.x, top: view.y, width: page.width * view.scale, height: page.height * view.scale });

test('fit keeps the aspect ratio and centres', () => {
  const view = fit({ width: 640, height: 640 }, page);
  assert.deepEqual(view, { scale: 0.5, x: 0, y: 140 });
});

test('fit enlarges a small page only so far', () => {
  assert.equal(fit({ width: 10_000, height: 10_000 }, page).scale, MAX_FIT);
});

test('a point of the window is one of the page, and the other way round', () => {
  const shown = { left: 10, top: 140, width: 640, height: 360 };
  assert.deepEqual(toPage(shown, page, { x: 330, y: 320 }), { x: 640, y: 360 });
  assert.deepEqual(toPage(shown, page, { x: 10, y: 140 }), { x: 0, y: 0 });
  assert.ok(!inside(toPage(shown, page, { x: 320, y: 100 }), page), 'above the page');
  assert.deepEqual(toWindow(shown, page, { x: 640, y: 360, width: 64, height: 36 }), { left: 330, top: 320, width: 32, height: 18 });
});

test('points outside move to the edge', () => {
  assert.deepEqual(nearest({ x: -5, y: 900 }, page), { x: 0, y: 719 });
});

test('zooming leaves the point under the fingers where it is', () => {
  const at = { x: 195, y: 250 };
  const before = fit(phone, page);
  const after = zoom(before, 3, at, phone, page);
  assert.ok(Math.abs(after.scale - before.scale * 3) < 1e-9);
  const from = toPage(glass(before), page, at);
  const to = toPage(glass(after), page, at);
  assert.ok(Math.abs(from.x - to.x) < 0.1 && Math.abs(from.y - to.y) < 0.1, JSON.stringify([from, to]));
});

test('zooming has limits', () => {
  const fitted = fit(phone, page);
  assert.equal(zoom(fitted, 1000, { x: 0, y: 0 }, phone, page).scale, MAX_ZOOM);
  assert.deepEqual(zoom(fitted, 0.1, { x: 10, y: 10 }, phone, page), fitted);
});

test('a view never shows a strip of nothing on an axis that is larger than the stage', () => {
  const view = clamp({ scale: 1, x: 50, y: -5000 }, phone, page);
  assert.equal(view.x, 0);
  assert.equal(view.y, phone.height - page.height);
});

test('a field is brought into sight, large enough to read', () => {
  const rect = { x: 900, y: 600, width: 200, height: 40 };
  const view = reveal(fit(phone, page), rect, 0.9, phone, page);
  assert.equal(view.scale, 0.9);
  const left = rect.x * view.scale + view.x;
  const top = rect.y * view.scale + view.y;
  assert.ok(left >= 0 && left + rect.width * view.scale <= phone.width, `left ${left}`);
  assert.ok(top >= 0 && top + rect.height * view.scale <= phone.height, `top ${top}`);
});
