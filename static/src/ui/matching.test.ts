import assert from 'node:assert/strict';
import test from 'node:test';
import { matches, ranked } from './matching.js';

test('a call matches if it has all words of a search', () => {
  const call = 'requesttakeover post /v1/sessions/:id/takeovers ask for a person. reason timeout';
  for (const search of ['', 'person', 'POST takeover', 'takeover  post', ' reason ']) assert.ok(matches(call, search), search);
  for (const search of ['persons', 'get takeover']) assert.ok(!matches(call, search), search);
});

test('what has a search in its first text comes first, and what only has it in all texts together comes last', () => {
  const all = [['c', 'order'], ['my order', ''], ['a', 'b'], ['order again', ''], ['order', 'b'], ['c b', 'order b']];
  assert.deepEqual(ranked(all, ' Order', (texts) => texts).map(([first]) => first), ['order again', 'order', 'my order', 'c', 'c b']);
  assert.deepEqual(ranked(all, 'order b', (texts) => texts).map(([first]) => first), ['c b', 'order']);
});
