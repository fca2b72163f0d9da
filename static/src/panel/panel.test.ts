import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holderWords, passes, RowLog, rowOf, shortURL, type CapturedEvent } from './rows.js';
import { range } from './virtual.js';

let seq = 0;
const event = (type: string, category: string, data: Record<string, unknown> = {}, ts = 0): CapturedEvent => ({ capture_session_id: 'c', seq: ++seq, ts, type, category, data });

test('only rows in sight are drawn', () => {
  assert.deepEqual(range(0, 280, 28, 10_000), { from: 0, to: 18 });
  assert.deepEqual(range(28 * 5_000, 280, 28, 10_000), { from: 4_992, to: 5_018 });
  assert.deepEqual(range(28 * 9_990, 280, 28, 10_000), { from: 9_982, to: 10_000 });
  assert.deepEqual(range(0, 280, 28, 0), { from: 0, to: 0 });
  assert.deepEqual(range(90_000, 280, 28, 3), { from: 3, to: 3 }, 'scrolled beyond a list that got short');
});

test('a request and its answer are one row', () => {
  const log = new RowLog(100);
  log.add(event('network_request', 'network', { request_id: 'r', method: 'GET', url: 'https://example.com/a?b' }, 1_000));
  const outcome = log.add(event('network_response', 'network', { request_id: 'r', status: 404 }, 1_048));
  assert.equal(outcome?.changed, true);
  assert.equal(log.rows.length, 1);
  const [row] = log.rows;
  assert.deepEqual([row?.text, row?.status, row?.took, row?.level], ['GET example.com/a?b', '404', '48 ms', 'wrong']);
});

test('a request that was called off is no error', () => {
  const log = new RowLog(100);
  log.add(event('network_request', 'network', { request_id: 'x', url: 'https://example.com/' }));
  log.add(event('network_loading_failed', 'network', { request_id: 'x', canceled: true, error_text: 'net::ERR_ABORTED' }));
  assert.equal(log.rows[0]?.level, 'plain');
});

test('a repetition is dropped', () => {
  const log = new RowLog(100);
  const one = event('page_load', 'page');
  assert.ok(log.add(one));
  assert.equal(log.add(one), null);
});

test('the oldest rows go when there are too many', () => {
  const log = new RowLog(100);
  let dropped = 0;
  for (let i = 0; i < 250; i++) dropped += log.add(event('console_log', 'console', { text: String(i), level: 'log' }))?.dropped ?? 0;
  assert.equal(log.rows.length + dropped, 250);
  assert.ok(log.rows.length <= 100, String(log.rows.length));
  assert.equal(log.rows.at(-1)?.text, '249');
});

test('rows are filtered by kind and text', () => {
  const error = rowOf(event('console_error', 'console', { text: 'Boom\n at x', source: 'window.onerror' }));
  assert.equal(error.text, 'Boom at x');
  assert.ok(passes(error, 'all', '') && passes(error, 'console', '') && passes(error, 'errors', 'boom'));
  assert.ok(!passes(error, 'network', '') && !passes(error, 'all', 'bang'));
  const target = rowOf(event('target_created', 'target', { type: 'page', url: 'https://example.com' }));
  assert.ok(passes(target, 'page', ''));
});

test('addresses are short and holders have words', () => {
  assert.equal(shortURL('https://example.com/a/b?c=d'), 'example.com/a/b?c=d');
  assert.equal(shortURL('data:text/html,hello'), 'data:…');
  assert.equal(shortURL('nonsense'), 'nonsense');
  assert.deepEqual(['', 'script', 'viewer:1', 'client:1'].map(holderWords), ['nobody', 'script', 'a person', 'an agent']);
});
