import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tally } from './testlist.js';

test('tests are counted by how they ended, those that are none left out', () => {
  const of = (...statuses: ('passed' | 'failed' | 'skipped')[]) => statuses.map((status) => ({ title: 't', status }));
  assert.equal(tally(of('passed', 'skipped', 'failed', 'passed')), '2 passed, 1 failed, 1 skipped');
  assert.equal(tally(of('passed')), '1 passed');
  assert.equal(tally([]), '');
});
