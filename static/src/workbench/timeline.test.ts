import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, share, shownAt, step, ticks } from './timeline.js';

const span = { from: 1000, to: 2000 };

test('a moment shows the last picture before it', () => {
  assert.equal(shownAt([], 5), undefined);
  assert.equal(shownAt([10, 20, 30], 5), undefined);
  assert.equal(shownAt([10, 20, 30], 20), 20);
  assert.equal(shownAt([10, 20, 30], 29), 20);
  assert.equal(shownAt([10, 20, 30], 99), 30);
});

test('the strip has a picture for each part of the time', () => {
  assert.deepEqual(cells([1000, 1400, 1900], span, 4), [1000, 1000, 1400, 1400]);
  assert.deepEqual(cells([1000], span, 2), [1000, 1000]);
  assert.deepEqual(cells([1500], span, 4), [undefined, 1500, 1500, 1500]);
  assert.deepEqual(cells([1700, 1720], span, 4), [undefined, undefined, 1700, 1720]);
  assert.deepEqual(cells([], span, 2), [undefined, undefined]);
});

test('times outside of the session stand at its ends', () => {
  assert.equal(share(span, 0), 0);
  assert.equal(share(span, 1250), 0.25);
  assert.equal(share(span, 3000), 1);
  assert.equal(share({ from: 5, to: 5 }, 5), 0);
});

test('keys step from picture to picture, and to the ends', () => {
  assert.equal(step([1200, 1700], span, 1000, true), 1200);
  assert.equal(step([1200, 1700], span, 1200, true), 1700);
  assert.equal(step([1200, 1700], span, 1700, true), 2000);
  assert.equal(step([1200, 1700], span, 2000, true), 2000);
  assert.equal(step([1200, 1700], span, 1700, false), 1200);
  assert.equal(step([1200, 1700], span, 1100, false), 1000);
  assert.equal(step([1200, 1700], span, 1000, false), 1000);
});

test('the scale has a few round times, and none at the very end', () => {
  assert.deepEqual(ticks(0), [0]);
  assert.deepEqual(ticks(1_800), [0, 500, 1_000, 1_500]);
  assert.deepEqual(ticks(6_300), [0, 2_000, 4_000, 6_000]);
  assert.deepEqual(ticks(10_000), [0, 2_000, 4_000, 6_000, 8_000]);
  assert.deepEqual(ticks(144_000), [0, 30_000, 60_000, 90_000, 120_000]);
  assert.equal(ticks(90 * 86_400_000).length, 1);
});
