import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPaste } from './clipboard.js';
import { isPaste } from './keyboard.js';

const data = (text: string, ...files: File[]): { getData(): string; files: File[] } => ({ getData: () => text, files });
const image = new File(['x'], 'image.png', { type: 'image/png' });
const other = new File(['x'], 'list.pdf', { type: 'application/pdf' });

test('text goes before an image of it, one image is an image, anything else is files', () => {
  assert.deepEqual(toPaste(data('words', image)), { text: 'words' });
  assert.deepEqual(toPaste(data('', image)), { image });
  assert.deepEqual(toPaste(data('', other)), { files: 1 });
  assert.deepEqual(toPaste(data('', image, image)), { files: 2 });
  assert.equal(toPaste(data('')), null);
  assert.equal(toPaste(null), null);
});

test('the shortcut that pastes is known by what the key means', () => {
  const none = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false };
  const ctrl = { ...none, ctrlKey: true };
  assert.ok(isPaste({ key: 'v', code: 'KeyV', ...ctrl }, false));
  assert.ok(isPaste({ key: 'V', code: 'KeyV', ...ctrl, shiftKey: true }, false));
  assert.ok(isPaste({ key: 'v', code: 'Period', ...ctrl }, false), 'Dvorak');
  assert.ok(!isPaste({ key: 'k', code: 'KeyV', ...ctrl }, false), 'Dvorak');
  assert.ok(isPaste({ key: 'м', code: 'KeyV', ...ctrl }, false), 'Russian');
  assert.ok(isPaste({ key: 'Insert', code: 'Insert', ...none, shiftKey: true }, false));
  assert.ok(isPaste({ key: 'v', code: 'KeyV', ...none, metaKey: true }, true));
  assert.ok(!isPaste({ key: 'v', code: 'KeyV', ...ctrl }, true), 'Control on a Mac');
  assert.ok(!isPaste({ key: 'v', code: 'KeyV', ...ctrl, altKey: true }, false));
});
