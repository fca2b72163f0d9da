import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeFrame } from './codeframe.js';

const CODE = 'one\ntwo\n\tthree();\nfour\nfive\n';

test('the line, two around it, and a caret under the column', () => {
  assert.deepEqual(codeFrame(CODE, 3, 2), [
    { line: 1, text: 'one', caret: null },
    { line: 2, text: 'two', caret: null },
    { line: 3, text: '\tthree();', caret: '\t' },
    { line: 4, text: 'four', caret: null },
    { line: 5, text: 'five', caret: null },
  ]);
});

test('the first and the last line have less around them', () => {
  assert.deepEqual(codeFrame(CODE, 1, 1).map(({ line }) => line), [1, 2, 3]);
  assert.deepEqual(codeFrame(CODE, 5, 1).map(({ line }) => line), [3, 4, 5]);
});

test('a place that is not in the code has no frame', () => {
  assert.deepEqual(codeFrame(CODE, 0, 1), []);
  assert.deepEqual(codeFrame(CODE, 9, 1), []);
});

test('a long line is cut around the column', () => {
  const [cut] = codeFrame('x'.repeat(5_000) + 'here' + 'y'.repeat(5_000), 1, 5_001);
  assert.ok(cut && cut.text.length < 400);
  assert.ok(cut && cut.text.slice(cut.caret?.length ?? 0).startsWith('here'));
});
