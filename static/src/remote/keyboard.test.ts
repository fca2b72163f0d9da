import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chordOf, keyMessage, type KeyPress } from './keyboard.js';

function press(key: string, code: string, extra: Partial<KeyPress> = {}): KeyPress {
  return { key, code, location: 0, repeat: false, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, altGraph: false, ...extra };
}

const cases: { name: string; press: KeyPress; mac?: boolean; want: { key?: string; code?: string; modifiers: number; text: string } }[] = [
  { name: 'a letter', press: press('a', 'KeyA'), want: { modifiers: 0, text: 'a' } },
  { name: 'a capital', press: press('A', 'KeyA', { shiftKey: true }), want: { modifiers: 8, text: 'A' } },
  { name: 'a letter of another layout', press: press('ж', 'Semicolon'), want: { modifiers: 0, text: 'ж' } },
  { name: 'a character of two code units', press: press('😀', 'KeyE'), want: { modifiers: 0, text: '😀' } },
  { name: 'Enter', press: press('Enter', 'Enter'), want: { modifiers: 0, text: '\r' } },
  { name: 'an arrow', press: press('ArrowLeft', 'ArrowLeft'), want: { modifiers: 0, text: '' } },
  { name: 'Ctrl+A', press: press('a', 'KeyA', { ctrlKey: true }), want: { modifiers: 2, text: '' } },
  { name: 'Alt+A', press: press('a', 'KeyA', { altKey: true }), want: { modifiers: 1, text: '' } },
  { name: 'AltGr on Windows', press: press('@', 'KeyQ', { ctrlKey: true, altKey: true, altGraph: true }), want: { modifiers: 0, text: '@' } },
  { name: 'AltGr itself', press: press('AltGraph', 'AltRight', { altGraph: true }), want: { modifiers: 0, text: '' } },
  { name: 'Command+C on a Mac', press: press('c', 'KeyC', { metaKey: true }), mac: true, want: { modifiers: 2, text: '' } },
  { name: 'Command itself on a Mac', press: press('Meta', 'MetaLeft', { metaKey: true }), mac: true, want: { key: 'Control', code: 'ControlLeft', modifiers: 2, text: '' } },
  { name: 'Option deletes a word on a Mac', press: press('Backspace', 'Backspace', { altKey: true }), mac: true, want: { modifiers: 2, text: '' } },
  { name: 'Option goes by words on a Mac', press: press('ArrowLeft', 'ArrowLeft', { altKey: true, shiftKey: true }), mac: true, want: { modifiers: 10, text: '' } },
  { name: 'Command goes to the end on a Mac', press: press('ArrowRight', 'ArrowRight', { metaKey: true, shiftKey: true }), mac: true, want: { key: 'End', code: 'End', modifiers: 8, text: '' } },
  { name: 'Command goes to the top on a Mac', press: press('ArrowUp', 'ArrowUp', { metaKey: true }), mac: true, want: { key: 'Home', code: 'Home', modifiers: 2, text: '' } },
  { name: 'Alt stays elsewhere', press: press('ArrowLeft', 'ArrowLeft', { altKey: true }), want: { modifiers: 1, text: '' } },
  { name: 'Option types on a Mac', press: press('å', 'KeyA', { altKey: true }), mac: true, want: { modifiers: 0, text: 'å' } },
  { name: 'Meta stays elsewhere', press: press('Meta', 'MetaLeft', { metaKey: true }), want: { modifiers: 4, text: '' } },
];

for (const { name, press: given, mac = false, want } of cases) {
  test(name, () => {
    const { key, code, modifiers, text } = keyMessage('down', given, mac);
    assert.deepEqual({ key, code, modifiers, text }, { key: given.key, code: given.code, ...want });
  });
}

test('a release types nothing', () => {
  assert.equal(keyMessage('up', press('a', 'KeyA'), false).text, '');
});

test('keys of a button are pressed in order and let go the other way round', () => {
  const { down, up } = chordOf('Control+Shift+KeyW');
  const say = ({ key, code, ctrlKey, shiftKey }: KeyPress): string => [key, code, ctrlKey && 'Ctrl', shiftKey && 'Shift'].filter(Boolean).join(' ');
  assert.deepEqual(down.map(say), ['Control ControlLeft Ctrl', 'Shift ShiftLeft Ctrl Shift', 'w KeyW Ctrl Shift']);
  assert.deepEqual(up.map(say), ['w KeyW Ctrl Shift', 'Shift ShiftLeft Ctrl', 'Control ControlLeft']);
  assert.deepEqual(chordOf('F5').down.map(say), ['F5 F5']);
});
