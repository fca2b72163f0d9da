import assert from 'node:assert/strict';
import { test } from 'node:test';
import { found, type Choice } from './choices.js';

test('the palette finds all words, and first what begins with them', () => {
  const choice = (kind: string, title: string, detail = ''): Choice => ({ kind, title, detail, icon: '', act: () => {} });
  const all = [choice('Page', 'Scripts'), choice('Session', 'Orders of the shop', 'live'), choice('Script', 'nightly orders'), choice('Action', 'Order again')];
  const titles = (search: string): string[] => found(all, search).map(({ title }) => title);
  assert.deepEqual(titles('order'), ['Orders of the shop', 'Order again', 'nightly orders']);
  assert.deepEqual(titles('live shop'), ['Orders of the shop']);
  assert.deepEqual(titles('SCRIPT'), ['Scripts', 'nightly orders']);
  assert.deepEqual(titles('none'), []);
  assert.equal(titles('').length, 4);
});
