import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extended } from './timeleft.js';

const MINUTE = 60_000;
const at = (ms: number): string => new Date(ms).toISOString();

test('30 minutes are added to the time that is left, and a session lives for at most 24 hours', () => {
  assert.equal(extended({ expiresAt: at(10 * MINUTE), timeout: 10 * MINUTE }, 9 * MINUTE), 40 * MINUTE);
  // Its time was up 5 minutes ago, and it is still live because somebody is working in it.
  assert.equal(extended({ expiresAt: at(10 * MINUTE), timeout: 10 * MINUTE }, 15 * MINUTE), 45 * MINUTE);
  assert.equal(extended({ expiresAt: at(0), timeout: 24 * 60 * MINUTE - 1 }, 0), 24 * 60 * MINUTE);
});
