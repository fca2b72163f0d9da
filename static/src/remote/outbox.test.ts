import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Outbox, type Stamp } from './outbox.js';
import type { InputMessage } from './protocol.js';

/** An outbox with what it sends, as `text n`, with `field` where it is named. */
function outbox(): { box: Outbox; sent: string[]; clock: { now: number } } {
  const sent: string[] = [];
  const clock = { now: 0 };
  const name = (message: InputMessage): string => (message.type === 'text' ? message.text : message.type === 'key' ? message.key : message.type);
  const send = (message: InputMessage, { n, field }: Stamp): unknown => sent.push(`${name(message)} ${n ?? '-'}${field ? ` in ${field}` : ''}`);
  return { box: new Outbox(send, () => clock.now), sent, clock };
}

const text = (value: string): InputMessage => ({ type: 'text', text: value });
const key = (name: string): InputMessage => ({ type: 'key', event: 'down', key: name, code: '', location: 0, repeat: false, modifiers: 0, text: '' });
const mouse = (event: 'move' | 'down'): InputMessage => ({ type: 'mouse', event, x: 1, y: 1, button: 'none', buttons: 0, clickCount: 0, modifiers: 0, deltaX: 0, deltaY: 0 });

test('inputs are counted, and moves are not', () => {
  const { box, sent } = outbox();
  box.restart(0);
  for (const message of [text('a'), mouse('move'), mouse('down'), text('b')]) box.put(message, 1);
  assert.deepEqual(sent, ['a 1', 'mouse -', 'mouse 2', 'b 3']);
  box.taken(2);
  assert.equal(box.waiting, 1);
});

test('what the server has not taken is sent again, once the first of it has gone into its field', () => {
  const { box, sent } = outbox();
  box.restart(0);
  box.field = 7;
  for (const message of [text('a'), text('b'), text('c')]) box.put(message, 1);
  box.lost();
  box.put(text('d'), 1); // typed without a connection
  sent.length = 0;
  assert.equal(box.resume({ taken: 1, field: 0 }, 1), 0);
  assert.deepEqual(sent, ['b 2 in 7']);
  box.put(text('e'), 1);
  box.taken(2);
  assert.deepEqual(sent, ['b 2 in 7', 'c 3', 'd 4', 'e 5']);
  box.put(text('f'), 1);
  assert.equal(sent.at(-1), 'f 6');
});

test('when another field has the focus, nothing is sent, and the count goes on', () => {
  const { box, sent } = outbox();
  box.restart(0);
  box.field = 7;
  box.put(text('a'), 1);
  box.lost();
  box.put(text('b'), 1);
  box.resume({ taken: 0, field: 0 }, 1);
  assert.equal(box.untaken(1, 1), 1);
  box.taken(1);
  assert.equal(box.waiting, 0);
  box.put(text('c'), 1);
  assert.deepEqual(sent, ['a 1', 'a 1 in 7', 'c 2']);
});

test('a key that may move the focus was under way: what follows was typed ahead', () => {
  const { box, sent, clock } = outbox();
  box.restart(0);
  box.field = 7;
  for (const message of [key('Tab'), text('a')]) box.put(message, 1);
  box.lost();
  sent.length = 0;
  box.resume({ taken: 0, field: 0 }, 1);
  assert.deepEqual(sent, ['Tab 1 in 7']);
  box.taken(1);
  assert.deepEqual(sent, ['Tab 1 in 7', 'a 2']);
  // The page has got another Tab, so nobody knows the field. A young letter was typed ahead and is sent, an older one is not.
  for (const message of [key('Tab'), text('b')]) box.put(message, 1);
  box.lost();
  box.resume({ taken: 3, field: 0 }, 1);
  assert.equal(sent.at(-1), 'b 4');
  for (const message of [key('Tab'), text('c')]) box.put(message, 1);
  box.lost();
  clock.now = 3_000;
  assert.equal(box.resume({ taken: 5, field: 0 }, 1), 1);
});

test('what was typed after a press that the page has got is sent into the field to which the press led, however old it is', () => {
  for (const [mover, field, left] of [[mouse('down'), 9, 1], [key('Tab'), 9, 0], [mouse('down'), 0, 0], [key('Enter'), 9, 0]] as const) {
    const { box, sent, clock } = outbox();
    box.restart(0);
    box.field = 7;
    for (const message of [text('a'), mover, text('b'), text('c')]) box.put(message, 1);
    box.lost();
    sent.length = 0;
    clock.now = 10_000;
    assert.equal(box.resume({ taken: 3, field }, 1), 1 - left);
    assert.deepEqual(sent, left ? ['c 4 in 9'] : []);
    if (!left) continue;
    // The connection breaks again before the server has taken it.
    box.lost();
    assert.equal(box.resume({ taken: 3, field: 8 }, 1), 0);
    assert.deepEqual(sent, ['c 4 in 9', 'c 4 in 9']);
  }
});

test('under another control nothing is sent again', () => {
  const { box, sent } = outbox();
  box.restart(0);
  for (const message of [text('a'), text('b')]) box.put(message, 1);
  box.lost();
  sent.length = 0;
  assert.equal(box.resume({ taken: 1, field: 0 }, 2), 1);
  box.put(text('c'), 2);
  assert.deepEqual(sent, ['c 2']);
});

test('an old press is not sent again, nor what came after it', () => {
  const { box, sent, clock } = outbox();
  box.restart(0);
  box.lost();
  for (const message of [text('a'), mouse('down'), text('b')]) box.put(message, 1);
  clock.now = 3_000;
  assert.equal(box.resume({ taken: 0, field: 0 }, 1), 2);
  box.put(text('c'), 1);
  assert.deepEqual(sent, ['a 1', 'c 2']);
});

test('a swipe whose moves were lost is not sent again as a tap', () => {
  const { box, sent } = outbox();
  box.restart(0);
  box.lost();
  const touch = (event: 'start' | 'move' | 'end'): InputMessage => ({ type: 'touch', event, points: [], modifiers: 0 });
  for (const event of ['start', 'move', 'end'] as const) box.put(touch(event), 1);
  assert.equal(box.resume({ taken: 0, field: 0 }, 1), 2);
  assert.deepEqual(sent, []);
});

test('without a connection there is a bound', () => {
  const { box } = outbox();
  let kept = 0;
  while (box.put(text('a'), 1)) kept++;
  assert.equal(kept, 2_000);
  assert.equal(outbox().box.put(text('x'.repeat(70_000)), 1), false);
});

test('after a reload of the page the count goes on', () => {
  const { box, sent } = outbox();
  box.restart(40);
  box.put(text('a'), 1);
  assert.deepEqual(sent, ['a 41']);
});

test('half an emoji does not reach the server', () => {
  const { box, sent } = outbox();
  box.restart(0);
  box.put(text('a\uD83D'), 1);
  box.put(text('😀'), 1);
  assert.deepEqual(sent, ['a\uFFFD 1', '😀 2']);
});

test('a text that is too large for a message is refused', () => {
  const { box } = outbox();
  box.restart(0);
  assert.equal(box.put(text('\u0001'.repeat(200_000)), 1), false);
  assert.equal(box.put(text('a'.repeat(500_000)), 1), true);
});

test('another view begins anew', () => {
  const { box, sent } = outbox();
  box.restart(0);
  box.put(text('a'), 1);
  box.lost();
  assert.equal(box.restart(0), 1);
  box.put(text('b'), 3);
  assert.deepEqual(sent, ['a 1', 'b 1']);
});
