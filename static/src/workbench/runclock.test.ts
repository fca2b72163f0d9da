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
  assert.deepEqual([clock.words, clock.waitedWords], ['0:12', '+ 1:05 waiting']);

  clock.status('running');
  now += 1_000;
  assert.deepEqual([clock.words, clock.waitedWords], ['0:13', '+ 1:05 waiting for a person']);

  clock.set({ status: 'succeeded', durationMs: 13_400, waitedMs: 65_600 });
  now += 60_000;
  assert.deepEqual([clock.words, clock.waitedWords], ['13.4 s', '+ 1:05 min waiting for a person']);

  clock.reset();
  clock.status('running');
  now += 2_999;
  assert.deepEqual([clock.words, clock.waitedWords], ['0:02', '']);
});
