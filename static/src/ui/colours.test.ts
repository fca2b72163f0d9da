import assert from 'node:assert/strict';
import test from 'node:test';
import { partsOf } from './colours.js';
import { piecesOf } from './grammars.js';

/** The colours of a code, piece by piece. */
const colours = (code: string, language: string): string[] => piecesOf(code, language).map(({ kind, from, to }) => `${kind} ${code.slice(from, to)}`);

test('a script has colours for its words, and none for its names', () => {
  assert.deepEqual(colours("const n = 12; // twelve", 'typescript'), ['keyword const', 'quiet =', 'number 12', 'quiet ;', 'comment // twelve']);
  assert.deepEqual(colours("await page.goto('https://example.com')", 'typescript'), ['keyword await', 'quiet .', 'quiet (', "string 'https://example.com'", 'quiet )']);
  assert.deepEqual(colours('return /a+/g.test(x) ?? true', 'typescript').slice(0, 4), ['keyword return', 'number /', 'number a+', 'number /']);
});

test('an expression within a template string has the colours of code', () => {
  const found = colours('`a ${await name} b`', 'typescript');
  assert.deepEqual(found, ['string `', 'string a ', 'quiet ${', 'keyword await', 'quiet }', 'string  b', 'string `']);
});

test('each language of the examples has colours, an unknown one has none', () => {
  assert.ok(colours('{"a": [1, true, "b"]}', 'json').includes('string "b"'));
  assert.ok(!colours('{"a": 1}', 'json').includes('string "a"'));
  assert.ok(colours('import os', 'python').includes('keyword import'));
  assert.ok(colours('package main', 'go').includes('keyword package'));
  assert.ok(colours("import { a } from 'b'", 'javascript').includes("string 'b'"));
  const shell = colours('export S=$(curl -H "Bearer $KEY" \\\n  | jq -r .id)', 'bash');
  for (const one of ['keyword export', 'keyword curl', 'string "Bearer ', 'number $KEY']) assert.ok(shell.includes(one), `${one} in ${shell.join(', ')}`);
  assert.deepEqual(colours('const a = 1', 'unknown'), []);
});

test('pieces are divided where lines and nodes end', () => {
  const lines = ['a /* b', 'c', '', 'd */ const e = `f', 'g`'];
  let at = 0;
  const spans = lines.map(({ length }) => ({ at: (at += length + 1) - length - 1, length }));
  const parts = partsOf(piecesOf(lines.join('\n'), 'typescript'), spans);
  assert.deepEqual(parts.map(({ span, kind, from, to }) => `${span} ${kind} ${lines[span]?.slice(from, to)}`), [
    '0 comment /* b', '1 comment c', '3 comment d */', '3 keyword const', '3 quiet =', '3 string `', '3 string f', '4 string g', '4 string `',
  ]);
});

test('a word may stand in several nodes of one line', () => {
  assert.deepEqual(partsOf([{ kind: 'string', from: 1, to: 6 }], [{ at: 0, length: 2 }, { at: 2, length: 2 }, { at: 4, length: 4 }]), [
    { span: 0, kind: 'string', from: 1, to: 2 }, { span: 1, kind: 'string', from: 0, to: 2 }, { span: 2, kind: 'string', from: 0, to: 2 },
  ]);
});
