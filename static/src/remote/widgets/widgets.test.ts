import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SelectMessage } from '../protocol.js';
import { sameField } from './widgets.js';

const colour: SelectMessage = { type: 'select', id: 'sel_1', kind: 'color', value: '#000000', min: '', max: '', step: '', options: [], rect: { x: 40, y: 450, width: 240, height: 36 } };

test('a second message with the same description means the same field', () => {
  assert.equal(sameField(colour, { ...colour, rect: { x: 40, y: 400, width: 240, height: 36 } }), true);
});

test('another id, value or list of options means another field', () => {
  assert.equal(sameField(colour, { ...colour, id: 'sel_2' }), false);
  assert.equal(sameField(colour, { ...colour, value: '#ffffff' }), false);
  assert.equal(sameField(colour, { ...colour, options: [{ value: 'a', label: 'a', group: '', disabled: false, selected: false }] }), false);
});
