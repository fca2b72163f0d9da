import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunClock } from './runclock.js';

test('a run counts on from what the server says, and people apart', () => {
  let now = 5_000;
  const clock = new RunClock(() => now);
  assert.deepEqual([clock.words, clock.waitedWords], ['0 ms', '']);

  // A page that is loaded while the run waits.
  clock.set({ status: 'waiting', durationMs: 12_300, waitedMs: 60_000 });
  now += 5_500;
  assert.deepEqual([clock.words, clock.waitedWords], ['1:17', '1:05 of it waiting']);

  clock.status('running');
  now += 1_000;
  assert.deepEqual([clock.words, clock.waitedWords], ['1:18', '1:05 of it waiting']);

  clock.set({ status: 'succeeded', durationMs: 13_400, waitedMs: 65_600 });
  now += 60_000;
  assert.deepEqual([clock.words, clock.waitedWords], ['1 min 19 s', '1 min 6 s of it waiting']);

  clock.reset();
  clock.status('running');
  now += 2_999;
  assert.deepEqual([clock.words, clock.waitedWords], ['0:02', '']);
});
