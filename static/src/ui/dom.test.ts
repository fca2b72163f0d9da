import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieces } from './dom.js';

test('a text breaks after the signs of addresses and of code', () => {
  assert.deepEqual(pieces(''), ['']);
  assert.deepEqual(pieces("page.goto('http://127.0.0.1:80/a/b')"), ['page.', 'goto(', "'http://", '127.0.0.1:80/', 'a/', "b')"]);
  assert.deepEqual(pieces('said, and done. '), ['said, and done. ']);
  assert.deepEqual(pieces('a?b=1&c=2'), ['a?', 'b=', '1&', 'c=', '2']);
  assert.equal(pieces('a/'.repeat(400)).length, 1);
});
