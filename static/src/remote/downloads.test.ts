import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeOf } from './uploads.js';

test('sizes as people write them', () => {
  assert.deepEqual([0, 1, 999, 1000, 15_360, 123_456, 512 * 2 ** 20].map(sizeOf), ['0 bytes', '1 byte', '999 bytes', '1.0 kB', '15.4 kB', '123 kB', '537 MB']);
});
