import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, noMatchWords, type Wanted } from './listfilter.js';

const all: Wanted = { text: '', state: '', script: '', since: '' };

test('entries are found by words in any order, and by status', () => {
  assert.ok(matches({ search: 'Sign in · Example https://example.com/login', states: 'live waiting' }, { ...all, text: 'EXAMPLE sign', state: 'waiting' }));
  assert.ok(matches({ search: 'anything', states: 'ended' }, all));
  assert.ok(!matches({ search: 'Sign in', states: 'live' }, { ...all, text: 'sign out' }));
  assert.ok(!matches({ search: 'Sign in', states: 'ended' }, { ...all, state: 'live' }));
});

test('entries are found by their script and by when they ended', () => {
  const now = Date.parse('2026-05-04T12:00:00Z');
  const old = { search: '', states: 'ended', script: 'login.ts', endedAt: '2026-05-04T10:30:00Z' };
  assert.ok(matches(old, { ...all, script: 'login.ts', since: 'day' }, now));
  assert.ok(!matches(old, { ...all, since: 'hour' }, now));
  assert.ok(!matches(old, { ...all, script: 'login' }, now), 'a name is compared as a whole');
  assert.ok(matches({ ...old, endedAt: '' }, { ...all, since: 'hour' }, now), 'a live session is within any time');
});

test('a list without a match says what was searched', () => {
  assert.equal(noMatchWords('script', { ...all, text: 'zzz' }), 'No script matches “zzz”.');
  assert.equal(noMatchWords('session', { ...all, since: 'day' }), 'No session matches the chosen filters.');
  assert.equal(noMatchWords('session', { ...all, text: 'zzz', state: 'live' }), 'No session matches “zzz” and the chosen filters.');
});
