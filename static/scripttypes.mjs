// Makes what the editor knows of the script API: Playwright's published types,
// documentation included, without the members that docs/api-table.md says our
// classes lack or refuse, so that nothing is offered that does not exist.
// Nothing of it is committed.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Modules of Node that the types mention, and scripts do not have. */
const STUBS = `
type ChildProcess = any;
type Readable = any;
type ReadStream = any;
type ZodTypeAny = any;
declare namespace z { type infer<T> = any }
declare namespace z3 { type ZodTypeAny = any; type infer<T> = any }
declare namespace Protocol {
  interface CommandParameters { [method: string]: any }
  interface CommandReturnValues { [method: string]: any }
  interface Events { [event: string]: any }
}
`;

/** Methods that take an event's name: an overload each. */
const LISTENERS = new Set(['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'prependListener', 'waitForEvent']);

/** Returns { path: text } of declaration files. */
export async function scriptTypes(root) {
  const read = (file) => readFile(path.join(root, file), 'utf8');
  const table = parseTable(await read('docs/api-table.md'));
  const [types, structs, test] = await Promise.all(['playwright-core/types/types.d.ts', 'playwright-core/types/structs.d.ts', 'playwright/types/test.d.ts'].map((file) => read(`node_modules/${file}`)));
  return {
    'file:///node_modules/playwright-core/index.d.ts': STUBS + reduceAll(types, table).replace(/^import .* from '(?!\.\/structs)[^']*';$/gm, '').replace(/^export const _(?:electron|android): .*$/gm, ''),
    'file:///node_modules/playwright-core/structs.d.ts': structs.replace(/from '[^']*types[^']*'/g, `from './index'`),
    'file:///node_modules/playwright/index.d.ts': `export * from 'playwright-core';`,
    'file:///node_modules/@playwright/test/index.d.ts': reduceAll(test, table),
  };
}

/** The members and events that are there, by class. */
function parseTable(text) {
  const table = new Map();
  let members;
  for (const line of text.split('\n')) {
    const heading = /^## (\w+)$/.exec(line);
    if (heading) table.set(heading[1], (members = { names: new Set(), events: new Set() }));
    const row = /^\| (event )?`([$\w]+)` \| ✓ \|$/.exec(line);
    if (row) (row[1] ? members.events : members.names).add(row[2]);
  }
  if (!table.get('Page')?.names.has('goto')) throw new Error('docs/api-table.md no longer says what Page has; see scripting/apitable_test.go');
  return table;
}

/** The text of a declaration file with each class of the table reduced. */
function reduceAll(text, table) {
  const out = [];
  let name = '';
  let block = [];
  for (const line of text.split('\n')) {
    if (!name) {
      const start = /^(?:export )?(?:interface|type) (\w+)[^;]*\{$/.exec(line);
      if (!start || !table.has(start[1])) {
        out.push(line);
        continue;
      }
      name = start[1];
      block = [];
    }
    block.push(line);
    if (!line.startsWith('}')) continue;
    out.push(...reduce(block, table.get(name)));
    name = '';
  }
  return out.join('\n');
}

/** The lines of a class with only the members that are there. */
function reduce(block, there) {
  const kept = [block[0]];
  let member = [];
  let depth = 0;
  let comment = false;
  for (const line of block.slice(1, -1)) {
    member.push(line);
    if (comment || /^\s*\/\*\*/.test(line)) {
      comment = !line.includes('*/');
      continue;
    }
    depth += count(line, /[({[]/g) - count(line, /[)}\]]/g);
    if (depth > 0 || !/[;}]\s*$/.test(line)) continue;
    if (wanted(member, there)) kept.push(...member);
    member = [];
  }
  return [...kept, block.at(-1)];
}

function wanted(member, { names, events }) {
  const code = member.find((line) => line.trim() && !/^\s*(\/?\*|\*)/.test(line)) ?? '';
  const name = /^\s*(?:readonly )?([\w$]+)/.exec(code)?.[1];
  if (!name) return true; // what can be called, or constructed
  const event = LISTENERS.has(name) && /event: '(\w+)'/.exec(code)?.[1];
  return event ? events.has(event) : names.has(name);
}

const count = (text, pattern) => (text.match(pattern) ?? []).length;
