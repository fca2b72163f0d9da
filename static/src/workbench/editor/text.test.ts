import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offsetOf } from './text.js';

test('a line and column are a place in a text', () => {
  assert.equal(offsetOf('ab\ncd\n', 1, 1), 0);
  assert.equal(offsetOf('ab\ncd\n', 2, 2), 4);
  assert.equal(offsetOf('ab', 9, 1), 3);
});
