import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoff } from './backoff.js';
import { EventParser } from './sse.js';

const STREAM = ': hello\n\nid: 1\nevent: log\ndata: {"a":1}\n\ndata: one\ndata: two\r\n\r\nevent: nothing\n\nid: 2\ndata:tight\n\n';
const EVENTS = [
  { id: '1', event: 'log', data: '{"a":1}' },
  { id: '1', event: 'message', data: 'one\ntwo' },
  { id: '2', event: 'message', data: 'tight' },
];

test('a stream is read whole', () => {
  assert.deepEqual(new EventParser().push(STREAM), EVENTS);
});

test('a stream is read however it is cut', () => {
  for (let size = 1; size < 12; size++) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < STREAM.length; at += size) events.push(...parser.push(STREAM.slice(at, at + size)));
    assert.deepEqual(events, EVENTS, `in pieces of ${size}`);
  }
});

test('waits grow up to a limit', () => {
  assert.deepEqual([0, 1, 2, 3, 10, 1000].map(backoff), [250, 500, 1000, 2000, 8000, 8000]);
});
