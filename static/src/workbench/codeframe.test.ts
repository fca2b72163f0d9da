import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeFrame } from './codeframe.js';

const CODE = 'one\ntwo\n\tthree();\nfour\nfive\n';

test('the line, two around it, and the word at the column', () => {
  assert.deepEqual(codeFrame(CODE, 3, 2), [
    { line: 1, text: 'one', mark: null },
    { line: 2, text: 'two', mark: null },
    { line: 3, text: '\tthree();', mark: [1, 6] },
    { line: 4, text: 'four', mark: null },
    { line: 5, text: 'five', mark: null },
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
  assert.ok(cut && cut.text.slice(cut.mark?.[0]).startsWith('here'));
  assert.match(cut.text, /^…x.*y…$/);
  // Those around it begin with their beginning.
  const wide = `    await page.${'x'.repeat(150)}.click();`;
  assert.equal(codeFrame(`first();\n${wide}`, 2, 170)[0]?.text, 'first();');
  assert.equal(codeFrame(`first();\n${wide}`, 2, 170)[1]?.text, wide);
});

test('a column that is no word marks its sign, and one behind the line marks nothing', () => {
  assert.deepEqual(codeFrame('a + 💥', 1, 5)[0]?.mark, [4, 6]);
  assert.deepEqual(codeFrame('a', 1, 9)[0]?.mark, [1, 1]);
});
