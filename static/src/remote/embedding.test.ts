import assert from 'node:assert/strict';
import test from 'node:test';
import { parseCommand } from './embedding.js';

test('only commands of the protocol are taken from a page around this one', () => {
  assert.deepEqual(parseCommand({ target: 'takeover', type: 'control', action: 'take' }), { type: 'control', action: 'take' });
  assert.deepEqual(parseCommand({ target: 'takeover', type: 'focus', more: 1 }), { type: 'focus' });
  for (const other of [null, 'focus', {}, { type: 'focus' }, { target: 'takeover', type: 'control', action: 'steal' }, { target: 'takeover', type: 'navigate' }, { target: 'other', type: 'focus' }]) {
    assert.equal(parseCommand(other), null);
  }
});
