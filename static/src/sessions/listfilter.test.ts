import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches } from './listfilter.js';

test('entries are found by words in any order, and by status', () => {
  assert.ok(matches('Sign in · Example https://example.com/login', 'live waiting', 'EXAMPLE sign', 'waiting'));
  assert.ok(matches('anything', 'ended', '', ''));
  assert.ok(!matches('Sign in', 'live', 'sign out', ''));
  assert.ok(!matches('Sign in', 'ended', '', 'live'));
});
