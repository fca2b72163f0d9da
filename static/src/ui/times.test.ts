import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, clock, span, timeLeft, took } from './times.js';

test('times as people say them', () => {
  assert.deepEqual([0, 4_999, 5_000, 59_999, 60_000, 3_600_000, 90_000_000].map(ago), ['just now', 'just now', '5 s ago', '59 s ago', '1 min ago', '1 h ago', '1 d ago']);
  assert.equal(span(125_000), '2 min');
});

test('what is left', () => {
  assert.deepEqual([192_000, 191_001, 9_400, 0, -5, 3_723_000].map(clock), ['3:12', '3:12', '0:10', '0:00', '0:00', '1:02:03']);
  assert.deepEqual([-5, 192_000, 86_399_000, 86_630_000].map(timeLeft), ['0:00', '3:12', '23:59:59', '1 d']);
});

test('how long something took', () => {
  assert.deepEqual([0.4, 48.2, 999.6, 1_234, 59_970, 125_000, 3_750_000].map(took), ['0 ms', '48 ms', '1.0 s', '1.2 s', '1 min', '2 min 5 s', '1 h 3 min']);
});
