import assert from 'node:assert/strict';
import { test } from 'node:test';
import { looksOf } from './caret.js';

test('a phone offers the keys that the remote field is for', () => {
  assert.equal(looksOf('tel').mode, 'tel');
  assert.deepEqual(looksOf('otp'), { mode: 'numeric', enter: 'go', complete: 'one-time-code', capitals: 'off' });
  assert.equal(looksOf('multiline').enter, 'enter');
  assert.equal(looksOf('none').mode, 'none');
  assert.equal(looksOf('password').capitals, 'off');
  assert.equal(looksOf('constructor').mode, 'text', 'no kind at all');
});
