import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clamp, fit, fitField, inSight, inside, MAX_FIT, MAX_ZOOM, nearest, toPage, toWindow, zoom, type Field, type View } from './geometry.js';

const page = { width: 1280, height: 720 };
const phone = { width: 390, height: 500 };
/** Where a view shows the page if the stage begins at the window's corner. */
const glass = (view: View) => ({ left: view.x, top: view.y, width: page.width * view.scale, height: page.height * view.scale });

test('fit keeps the aspect ratio, at the top and in the middle', () => {
  assert.deepEqual(fit({ width: 640, height: 640 }, page), { scale: 0.5, x: 0, y: 0 });
  assert.deepEqual(fit({ width: 840, height: 360 }, page), { scale: 0.5, x: 100, y: 0 });
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
  const at = { x: 195, y: 60 };
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

const field = (x: number, y: number, width: number, height: number, around: [number, number][] = [], text = 16): Field => {
  const element = { x, y, width, height };
  // Each box around the field is as high as the page and centred around the field.
  return { rect: { x: x + 2, y, width: 1, height }, element, around: around.map(([left, right]) => ({ x: left, y: 0, width: right - left, height: 720 })), text };
};
const across = ({ scale, x }: View, { x: left, width }: { x: number; width: number }): [number, number] => [left * scale + x, (left + width) * scale + x];

test('a field is shown with as much of its form as is readable, in the upper half', () => {
  const login = field(520, 400, 240, 40, [[480, 800], [0, 1280]]);
  const view = fitField(login, phone, page);
  assert.ok(Math.abs(view.scale - (390 - 32) / 320) < 1e-9, `scale ${view.scale}`);
  assert.deepEqual(across(view, { x: 480, width: 320 }).map(Math.round), [16, 374]);
  assert.ok(Math.abs(420 * view.scale + view.y - 500 / 3) < 1, `y ${view.y}`);
});

test('on a low stage, the form is not enlarged beyond its height while its text is legible', () => {
  const login = field(520, 300, 240, 40);
  login.around = [{ x: 460, y: 150, width: 360, height: 380 }];
  assert.equal(fitField(login, { width: 760, height: 400 }, page).scale, (400 - 32) / 380);
  assert.equal(fitField(login, { width: 760, height: 255 }, page).scale, 0.75);
});

test('a field in a small form is not enlarged without bound', () => {
  assert.equal(fitField(field(600, 300, 80, 20, [[590, 690]]), phone, page).scale, 1.25);
});

test('a field that just does not fit is shown whole, if its text is legible', () => {
  const view = fitField(field(480, 300, 320, 40, [[448, 832]]), { width: 308, height: 300 }, page);
  assert.deepEqual(across(view, { x: 480, width: 320 }).map(Math.round), [16, 292]);
});

test('a field that is too wide to be readable as a whole shows its caret', () => {
  const wide = field(100, 300, 1000, 40, [[0, 1280]]);
  const view = fitField(wide, phone, page);
  assert.equal(view.scale, 1);
  const [left, right] = across(view, wide.rect);
  assert.ok(left >= 0 && right <= phone.width, `caret at ${left}`);
});

test('small text is enlarged', () => {
  assert.ok(fitField(field(520, 400, 200, 20, [[400, 800]], 13), phone, page).scale * 13 >= 16);
});

test('a page that is readable as a whole stays whole', () => {
  const desk = { width: 1400, height: 900 };
  assert.deepEqual(fitField(field(520, 400, 240, 40), desk, page), fit(desk, page));
});

test('a view moves only as far as a caret needs', () => {
  const view = { scale: 1, x: -400, y: -200 };
  assert.deepEqual(inSight(view, { x: 500, y: 300, width: 1, height: 20 }, phone, page), view);
  assert.equal(inSight(view, { x: 790, y: 300, width: 1, height: 20 }, phone, page).x, 390 - 16 - 791);
});
