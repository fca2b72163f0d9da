import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf } from './address.js';

test('an address is made of what was typed', () => {
  for (const [typed, want] of [
    ['example.com', 'https://example.com'],
    [' example.com/a b ', 'https://example.com/a b'],
    ['http://example.com', 'http://example.com'],
    ['localhost:3000/x', 'http://localhost:3000/x'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['example.com:8443/x', 'https://example.com:8443/x'],
    ['about:blank', 'about:blank'],
    ['file:///etc/passwd', 'file:///etc/passwd'], // the server refuses these
  ] as const) {
    assert.equal(addressOf(typed), want);
  }
});
