import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endingOf } from './endings.js';

test('an ending says why, and what to do', () => {
  assert.match(endingOf('ended', 'timeout', false).title, /^Time is up$/);
  assert.match(endingOf('ended', 'timeout', false).text, /time limit.* new session/);
  assert.match(endingOf('ended', 'idle timeout', false).text, /Nobody used it/);
  assert.match(endingOf('ended', 'its script ended', false).text, /Reason: its script ended\./);
  assert.match(endingOf('gone', '', true).text, /ask the person who sent you the link/);
  assert.match(endingOf('forbidden', 'the link has expired.', true).text, /^the link has expired\. Ask the person/);
  assert.equal(endingOf('ended', 'constructor', true).title, 'This session has ended');
});
