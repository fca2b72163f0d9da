import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aboutSession, found, type Choice, type Group } from './choices.js';

test('the palette finds all words, and first what begins with them', () => {
  const choice = (kind: string, title: string, detail = ''): Choice => ({ kind, title, detail, icon: '', group: 'page', act: () => {} });
  const all = [choice('Page', 'Scripts'), choice('Session', 'Orders of the shop', 'live'), choice('Script', 'nightly orders'), choice('Action', 'Order again')];
  const titles = (search: string): string[] => found(all, search).map(({ title }) => title);
  assert.deepEqual(titles('order'), ['Orders of the shop', 'Order again', 'nightly orders']);
  assert.deepEqual(titles('live shop'), ['Orders of the shop']);
  assert.deepEqual(titles('SCRIPT'), ['Scripts', 'nightly orders']);
  assert.deepEqual(titles('none'), []);
  assert.equal(titles('').length, 4);
});

test('a session that its script names is found by its page, too', () => {
  const session: Choice = { kind: 'Session', title: 'nightly.ts', detail: 'Live', also: 'Orders of the shop https://shop.example/orders', icon: '', group: 'page', act: () => {} };
  assert.deepEqual(found([session], 'orders shop.example'), [session]);
});

test('what matches equally well stands in its place, whenever it came', () => {
  const choice = (title: string, group: Group): Choice => ({ kind: 'Page', title, detail: '', icon: '', group, act: () => {} });
  assert.deepEqual(found([choice('page', 'page'), choice('action', 'action'), choice('live', 'live')], '').map(({ title }) => title), ['action', 'live', 'page']);
});

test('the palette shows few sessions, and tells them apart', () => {
  const session = (i: number): Choice => ({ kind: 'Session', title: 'Sign in', detail: String(i), icon: '', group: 'page', act: () => {} });
  const all = [...[1, 2, 3, 4, 5, 6, 7].map(session), { kind: 'Page', title: 'Settings', detail: 'Page', icon: '', group: 'page', act: () => {} }];
  assert.deepEqual(found(all, 's').map(({ detail }) => detail), ['1', '2', '3', '4', '5', 'Page']);
  const [began, ended] = ['2026-05-04T09:30:00Z', '2026-05-04T09:31:00Z'];
  const now = Date.parse('2026-05-04T09:34:00Z');
  const about = (status: string, endedAt: string | null, controller = ''): string => aboutSession({ status, controller, createdAt: began, endedAt, url: 'https://example.com/login' }, now);
  assert.match(about('live', null), /^Idle · \d\d:\d0:00 · example\.com$/);
  assert.match(about('live', null, 'viewer:v_1'), /^Person in control · /);
  assert.match(about('live', null, 'script:run_1'), /^Script running · /);
  assert.equal(about('released', ended), 'Ended · 3 min ago · example.com');
  assert.equal(about('failed', ended), 'Failed · 3 min ago · example.com');
});
