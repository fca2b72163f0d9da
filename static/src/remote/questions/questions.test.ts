import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Questions } from './questions.js';

test('a question that comes while another is shown waits for its turn', () => {
  const questions = new Questions<{ id: string; closed?: boolean }>();
  const shown = (): string | undefined => questions.first?.id;
  assert.equal(questions.take({ id: 'a' }), true);
  assert.equal(questions.take({ id: 'b' }), false);
  assert.equal(questions.take({ id: 'c' }), false);
  assert.equal(questions.take({ id: 'a' }), false, 'told again');
  assert.equal(shown(), 'a');
  questions.shift();
  assert.equal(shown(), 'b');
  assert.equal(questions.take({ id: 'a', closed: true }), false, 'the server confirms');
  assert.equal(questions.take({ id: 'b', closed: true }), true, 'answered by somebody else');
  assert.equal(shown(), 'c');
  questions.clear();
  assert.equal(questions.first, null);
});
