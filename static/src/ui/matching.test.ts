import assert from 'node:assert/strict';
import test from 'node:test';
import { matches } from './matching.js';

test('a call matches if it has all words of a search', () => {
  const call = 'requesttakeover post /v1/sessions/:id/takeovers ask for a person. reason timeout';
  for (const search of ['', 'person', 'POST takeover', 'takeover  post', ' reason ']) assert.ok(matches(call, search), search);
  for (const search of ['persons', 'get takeover']) assert.ok(!matches(call, search), search);
});
