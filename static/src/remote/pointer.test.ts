import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClickCounter, Coalescer, heldButton, wheelPixels } from './pointer.js';
import type { MouseMessage } from './protocol.js';
import { gestureOf } from './touch.js';

function mouse(event: MouseMessage['event'], x: number, extra: Partial<MouseMessage> = {}): MouseMessage {
  return { type: 'mouse', event, x, y: 0, button: 'none', buttons: 0, clickCount: 0, modifiers: 0, deltaX: 0, deltaY: 0, ...extra };
}

function coalescer(): { push(message: MouseMessage): void; frame(): void; sent: string[] } {
  const sent: string[] = [];
  let flush: (() => void) | null = null;
  const target = new Coalescer(
    (m) => sent.push(m.event === 'wheel' ? `wheel ${m.deltaY}` : `${m.event} ${m.x}`),
    (f) => (flush = f),
  );
  return {
    sent,
    push: (m) => target.push(m),
    frame: () => {
      const f = flush;
      flush = null;
      f?.();
    },
  };
}

test('one move goes each frame, the newest', () => {
  const { push, frame, sent } = coalescer();
  push(mouse('move', 1));
  push(mouse('move', 2));
  push(mouse('move', 3));
  assert.deepEqual(sent, []);
  frame();
  assert.deepEqual(sent, ['move 3']);
  frame();
  assert.deepEqual(sent, ['move 3']);
  push(mouse('move', 4));
  frame();
  assert.deepEqual(sent, ['move 3', 'move 4']);
});

test('a click goes at once, after the move before it', () => {
  const { push, frame, sent } = coalescer();
  push(mouse('move', 5));
  push(mouse('down', 5));
  push(mouse('up', 5));
  assert.deepEqual(sent, ['move 5', 'down 5', 'up 5']);
  frame();
  assert.deepEqual(sent, ['move 5', 'down 5', 'up 5']);
});

test('wheel turns add up and keep their place among moves', () => {
  const { push, frame, sent } = coalescer();
  push(mouse('wheel', 0, { deltaY: 10 }));
  push(mouse('wheel', 0, { deltaY: 15 }));
  push(mouse('move', 7));
  frame();
  assert.deepEqual(sent, ['wheel 25', 'move 7']);
});

test('clicks are counted by button, time and place', () => {
  const clicks = new ClickCounter();
  assert.equal(clicks.press(0, { x: 10, y: 10 }, 0), 1);
  assert.equal(clicks.press(0, { x: 12, y: 11 }, 200), 2);
  assert.equal(clicks.count, 2);
  assert.equal(clicks.press(0, { x: 12, y: 11 }, 400), 3);
  assert.equal(clicks.press(0, { x: 12, y: 11 }, 1000), 1, 'too late');
  assert.equal(clicks.press(0, { x: 40, y: 11 }, 1100), 1, 'elsewhere');
  assert.equal(clicks.press(2, { x: 40, y: 11 }, 1200), 1, 'another button');
});

test('a drag belongs to a held button', () => {
  assert.equal(heldButton(0), 'none');
  assert.equal(heldButton(1), 'left');
  assert.equal(heldButton(2), 'right');
  assert.equal(heldButton(4), 'middle');
  assert.equal(heldButton(16), 'forward');
});

test('wheel turns are in pixels', () => {
  assert.equal(wheelPixels(3, 0), 3);
  assert.equal(wheelPixels(3, 1), 120);
  assert.equal(wheelPixels(-1, 2), -600);
});

test('fingers drag sideways and scroll up and down', () => {
  assert.equal(gestureOf(3, 3), 'undecided');
  assert.equal(gestureOf(20, 6), 'drag');
  assert.equal(gestureOf(-20, 6), 'drag');
  assert.equal(gestureOf(4, -20), 'scroll');
});
