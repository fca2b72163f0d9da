import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleOf } from './titles.js';

test('a page is called by its title, else by where it is', () => {
  for (const [title, url, want] of [
    ['Sign in', 'https://example.com/', 'Sign in'],
    ['', 'https://example.com/', 'https://example.com/'],
    ['about:blank', 'about:blank', 'Empty page'],
    ['', 'about:blank', 'Empty page'],
    ['Written', 'about:blank', 'Written'],
    ['', '', 'Empty page'],
  ] as const) {
    assert.equal(titleOf({ title, url }), want);
  }
  assert.equal(titleOf(undefined), 'Empty page');
});
