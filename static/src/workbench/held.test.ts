import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldWords } from './held.js';

test('what waits is said with its actor, operation and target', () => {
  assert.deepEqual(heldWords({ number: 1, by: 'script', name: 'frame.click', target: 'role=button' }), { text: 'Script: click', target: 'role=button' });
  assert.deepEqual(heldWords({ number: 2, by: 'client:cdp_1', name: 'Page.navigate', target: 'https://example.com/' }), { text: 'An agent: Page.navigate', target: 'https://example.com/' });
});
