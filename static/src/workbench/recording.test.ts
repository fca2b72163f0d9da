import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counts, scanned, type Report } from './recording.js';

test('the end of a recording is told in words', () => {
  const report: Report = { trajectory_id: 't', tool_calls: 1, failures: 0, artifacts: { screenshots: 2 }, leak_scan: { state: 'clean' } };
  assert.equal(counts(report), 'Kept 1 step and 2 pictures.');
  assert.equal(counts({ ...report, tool_calls: 3, failures: 1, lost: 2 }), 'Kept 3 steps and 2 pictures. 1 step failed. 2 parts could not be kept. report.json says why.');
  assert.match(scanned({ state: 'clean' }), /None was found/);
  assert.match(scanned({ state: 'found', files: ['events.jsonl'] }), /cannot be downloaded.*events\.jsonl/);
  assert.match(scanned({ state: 'not_scanned' }), /not searched/);
});
