import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Run } from '../../remote/protocol.js';
import { curl, quoted } from './curl.js';
import { addressFrom, holderWords, shortURL, visible } from './describe.js';
import { ALL, passes, RowLog, rowOf, type CapturedEvent, type Wanted } from './rows.js';
import { stepAt } from './steps.js';
import { barOf, phasesOf } from './timing.js';
import { moved, range } from './virtual.js';

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

test('operations of programs are told with how they ended', () => {
  const action = { actor: 'script', operation: 'frame.click', target: '#go' };
  const lines = [
    rowOf(event('action_started', 'control', action)),
    rowOf(event('action_ended', 'control', { ...action, ok: true, duration_ms: 12 })),
    rowOf(event('action_ended', 'control', { ...action, actor: 'client:c', ok: false, error: 'Timeout\nexceeded', duration_ms: 50 })),
  ].map((row) => [row.text, row.soft, row.level]);
  assert.deepEqual(lines, [
    ['script: frame.click', '#go', 'plain'],
    ['script: frame.click done', '12 ms', 'plain'],
    ['an agent: frame.click failed', 'Timeout exceeded', 'wrong'],
  ]);
});

test('what happened first stands first, whenever it arrives', () => {
  const log = new RowLog(100);
  const late = [10, 30, 20, 40].map((ts) => log.add(event('console_log', 'console', { text: String(ts), level: 'log' }, ts))?.late);
  assert.deepEqual(log.rows.map((row) => row.event.ts), [10, 20, 30, 40]);
  assert.deepEqual(late, [false, false, true, false]);
});

test('folded, All keeps runs, requests for a person and errors', () => {
  const kept = ([type, data]: [string, Record<string, unknown>]): boolean => passes(rowOf(event(type, 'control', data)), { ...ALL, folded: true });
  const events: [string, Record<string, unknown>][] = [
    ['run_started', {}], ['takeover_done', {}], ['action_ended', { ok: false }], ['limit_reached', {}],
    ['action_ended', { ok: true }], ['control_changed', {}], ['viewer_left', { role: 'takeover' }],
  ];
  assert.deepEqual(events.map(kept), [true, true, true, true, false, false, false]);
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

test('rows are filtered by kind, text, status and tab', () => {
  const error = rowOf({ ...event('console_error', 'console', { text: 'Boom\n at x', source: 'window.onerror' }), target_id: 'one' });
  assert.equal(error.text, 'Boom at x');
  const shown = (wanted: Partial<Wanted>): boolean => passes(error, { ...ALL, ...wanted });
  assert.ok(shown({}) && shown({ filter: 'console' }) && shown({ filter: 'errors', text: 'boom' }) && shown({ tab: 'one' }));
  assert.ok(!shown({ filter: 'network' }) && !shown({ text: 'bang' }) && !shown({ tab: 'two' }) && !shown({ standing: '4' }));
  const target = rowOf(event('target_created', 'target', { type: 'page', url: 'https://example.com' }));
  assert.ok(passes(target, { ...ALL, filter: 'page' }));
  const click = rowOf(event('interaction_click', 'interaction', { selector: '#go', tag: 'button', text: 'Go' }));
  assert.ok(passes(click, { ...ALL, filter: 'interaction' }));
  assert.equal(click.text, 'Click #go');
});

test('a request is under way, then stands as it was answered', () => {
  const log = new RowLog(100);
  const send = (id: string, session = 's'): void => void log.add({ ...event('network_request', 'network', { request_id: id, url: 'https://example.com/' }), cdp_session_id: session });
  send('r');
  assert.ok(passes(log.rows[0]!, { ...ALL, standing: 'pending' }));
  send('r', 'other');
  assert.equal(log.rows.length, 2, 'another target counts its requests itself');
  log.add({ ...event('network_response', 'network', { request_id: 'r', status: 503 }), cdp_session_id: 's' });
  assert.equal(log.rows[0]?.standing, '5');
  assert.equal(log.rows[1]?.standing, 'pending');
  assert.deepEqual(log.count(), { console: 0, network: 2, page: 0, interaction: 0, control: 0, errors: 1, visits: 0 });
});

test('the messages of a socket are on its line', () => {
  const log = new RowLog(100);
  log.add(event('websocket_open', 'network', { request_id: 'w', url: 'wss://example.com/', status: 101 }));
  for (let i = 0; i < 300; i++) log.add(event('websocket_frame', 'network', { request_id: 'w', payload: String(i) }));
  log.add(event('websocket_close', 'network', { request_id: 'w' }));
  assert.equal(log.rows.length, 1);
  assert.equal(log.rows[0]?.soft, '300 messages');
  assert.equal(log.rows[0]?.messages?.length, 200);
});

test('what could disguise a text is written out', () => {
  assert.equal(visible('abc\u202eexe.cod\u2066'), 'abc\\u202eexe.cod\\u2066');
  assert.equal(rowOf(event('console_log', 'console', { text: `a\u202e\u0007b${'x'.repeat(90_000)}` })).text.slice(0, 15), 'a\\u202e\\u0007bx');
  assert.ok(rowOf(event('console_log', 'console', { text: '<b>'.repeat(30_000) })).text.length <= 500);
});

test('a cURL command is safe to paste', () => {
  assert.equal(quoted("it's"), `'it'\\''s'`);
  assert.equal(quoted('a\u001b[201~\nrm -rf ~!'), `$'a\\u001b[201~\\u000arm -rf ~\\u0021'`);
  const request = event('network_request', 'network', { method: 'POST', url: "https://example.com/?q='$(id)`x`", headers: { ':authority': 'example.com', Accept: '*/*', 'Content-Length': '3' }, post_data: '@/etc/passwd' });
  assert.equal(curl(request), `curl 'https://example.com/?q='\\''$(id)\`x\`' \\\n  -H 'Accept: */*' \\\n  --data-raw @/etc/passwd`);
});

test('the waterfall puts requests that came together on one scale', () => {
  const log = new RowLog(100);
  const send = (id: string, ts: number, kind: string): void => void log.add(event('network_request', 'network', { request_id: id, url: 'https://example.com/', resource_type: kind }, ts));
  send('page', 1_000, 'document');
  send('style', 1_200, 'stylesheet');
  log.add(event('network_response', 'network', { request_id: 'page', status: 200, timing: { send_ms: 1, wait_ms: 59, receive_ms: 40, total_ms: 400 } }, 1_500));
  send('later', 9_000, 'fetch');
  const [page, style, later] = log.rows;
  assert.equal(page?.burst, style?.burst);
  assert.notEqual(page?.burst, later?.burst);
  assert.deepEqual(barOf({ start: 1_200, end: 1_400 }, { start: 1_000, end: 1_400 }), { left: 50, width: 50 });
  assert.deepEqual(phasesOf(page?.answer)?.map(({ name }) => name), ['send_ms', 'wait_ms', 'receive_ms']);
});

test('an event knows the step of the script that it happened in', () => {
  const at = (ms: number): string => new Date(ms).toISOString();
  const run = { id: 'r', sessionId: 's', status: 'succeeded', createdAt: at(1_000), endedAt: at(5_000), steps: [
    { title: 'page.goto', startedAt: at(1_100), durationMs: 500, line: 1 }, { title: 'page.click', startedAt: at(2_000), durationMs: 100, line: 2 },
  ] } as Run;
  assert.equal(stepAt([run], 1_300)?.step.line, 1);
  assert.deepEqual([stepAt([run], 3_000)?.step.line, stepAt([run], 3_000)?.during], [2, false]);
  assert.equal(stepAt([run], 6_000), null);
  assert.equal(stepAt([run], 1_050), null);
});

test('addresses are short and holders have words', () => {
  assert.equal(addressFrom('https://example.com/a?b', 'https://example.com/page'), '/a?b');
  assert.equal(addressFrom('https://other.com/a', 'https://example.com/page'), 'other.com/a');
  assert.equal(shortURL('https://example.com/a/b?c=d'), 'example.com/a/b?c=d');
  assert.equal(shortURL('data:text/html,hello'), 'data:…');
  assert.equal(shortURL('nonsense'), 'nonsense');
  assert.deepEqual(['', 'script', 'viewer:1', 'client:1'].map(holderWords), ['nobody', 'script', 'a person', 'an agent']);
});

test('the row at the top of the view is found again after others came or went above it', () => {
  assert.equal(moved(['a', 'b', 'c'], ['a', 'late', 'b', 'c'], 1), 1, 'one came above');
  assert.equal(moved(['a', 'b', 'c'], ['b', 'c', 'd'], 1), -1, 'one went above');
  assert.equal(moved(['a', 'b', 'c'], ['a', 'b', 'late', 'c'], 1), 0, 'one came below');
  assert.equal(moved(['a', 'b', 'c'], ['new', 'c'], 1), -1, 'the row itself went');
  assert.equal(moved(['a', 'b'], ['c'], 1), 0, 'all went');
});
