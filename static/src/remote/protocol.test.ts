import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage, parsePicture, PICTURE_HEADER_BYTES } from './protocol.js';

function message(change: (view: DataView) => void = () => {}, body = 3): ArrayBuffer {
  const buffer = new ArrayBuffer(PICTURE_HEADER_BYTES + body);
  const view = new DataView(buffer);
  view.setUint8(0, 1);
  view.setUint8(1, 1);
  view.setUint8(2, 1);
  view.setUint32(4, 4_000_000_000);
  view.setBigUint64(8, 1_700_000_000_123_456n);
  view.setUint16(16, 2560);
  view.setUint16(18, 1440);
  view.setUint16(20, 1280);
  view.setUint16(22, 720);
  view.setUint32(24, 7);
  new Uint8Array(buffer, PICTURE_HEADER_BYTES).fill(0xab);
  change(view);
  return buffer;
}

test('a picture is read', () => {
  const picture = parsePicture(message());
  assert.ok(picture);
  const { image, ...header } = picture;
  assert.deepEqual(header, {
    seq: 4_000_000_000, mime: 'image/jpeg', sharp: true, capturedAt: 1_700_000_000_123.456, width: 2560, height: 1440, viewportWidth: 1280, viewportHeight: 720, tab: 7,
  });
  assert.deepEqual([...image], [0xab, 0xab, 0xab]);
});

test('what is no picture is refused', () => {
  assert.equal(parsePicture(new ArrayBuffer(0)), null);
  assert.equal(parsePicture(message(() => {}, 0)), null, 'no image');
  assert.equal(parsePicture(message((view) => view.setUint8(0, 2))), null, 'another kind');
  assert.equal(parsePicture(message((view) => view.setUint8(1, 9))), null, 'another format');
  assert.equal(parsePicture(message((view) => view.setUint16(20, 0))), null, 'no viewport');
});

test('messages without a type are refused', () => {
  for (const text of ['', 'null', '[]', '{"type":1}', '{', '"hello"']) assert.equal(parseMessage(text), null, text);
  assert.deepEqual(parseMessage('{"type":"pong","t":1}'), { type: 'pong', t: 1 });
});
