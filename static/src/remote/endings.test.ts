import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endingOf, interruptionOf, reconnectedAfter } from './endings.js';

test('an ending says why, and what to do', () => {
  assert.match(endingOf('ended', 'timeout', false).title, /^Time is up$/);
  assert.match(endingOf('ended', 'timeout', false).text, /time limit.* new session/);
  assert.match(endingOf('ended', 'idle timeout', false).text, /Nobody used it/);
  assert.match(endingOf('ended', 'released', false).text, /^A program ended it over the API, /);
  assert.match(endingOf('ended', 'ended by a person', false).text, /^A person ended it, /);
  assert.match(endingOf('ended', 'script finished', false).text, /Reason: script finished\./);
  assert.match(endingOf('gone', '', true).text, /ask the person who sent you the link/);
  assert.match(endingOf('forbidden', 'the link has expired.', true).text, /^the link has expired\. Ask the person/);
  assert.equal(endingOf('ended', 'constructor', true).title, 'This session has ended');
});

test('a disconnection by the server says why, and that the page connects again', () => {
  const plain = interruptionOf(1006, true);
  for (const code of [1001, 1009, 1011, 4008]) {
    const words = interruptionOf(code, true);
    assert.notDeepEqual(words, plain, `code ${code}`);
    assert.match(words.text, /Reconnecting…/, `code ${code}`);
    assert.deepEqual(interruptionOf(code, false), words);
  }
  assert.equal(interruptionOf(1001, true).title, 'The server is stopping');
  assert.match(interruptionOf(4008, true).text, /received nothing for too long/);
  assert.equal(plain.title, 'Connection lost');
  assert.equal(interruptionOf(1006, false).title, 'The server cannot be reached');
  assert.match(reconnectedAfter(4008), /^Reconnected\. .*received nothing/);
  assert.equal(reconnectedAfter(1006), '');
});
