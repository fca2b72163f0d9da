import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TypeAhead } from './typeahead.js';

const labels = ['Berlin', 'Bern', 'Bonn', 'Zürich', '', 'New York'];

test('a word typed at once goes to what begins with it', () => {
  const typed = new TypeAhead();
  assert.equal(typed.type('b', labels, -1, 0), 0);
  assert.equal(typed.type('e', labels, 0, 100), 0);
  assert.equal(typed.type('r', labels, 0, 200), 0);
  assert.equal(typed.type('n', labels, 0, 300), 1);
  assert.equal(typed.type('x', labels, 1, 400), -1);
});

test('a pause begins another word', () => {
  const typed = new TypeAhead();
  assert.equal(typed.type('Z', labels, 0, 0), 3);
  assert.equal(typed.type('n', labels, 3, 2_000), 5);
  assert.equal(typed.typing(2_100), true);
  assert.equal(typed.type('e', labels, 5, 2_100), 5);
  assert.equal(typed.typing(5_000), false);
});

test('one letter again and again goes through all that begin with it', () => {
  const typed = new TypeAhead();
  assert.deepEqual([0, 1, 2, 3].map((at) => typed.type('b', labels, at - 1, at * 50)), [0, 1, 2, 0]);
  assert.equal(typed.type('q', [], -1, 9_000), -1);
});
