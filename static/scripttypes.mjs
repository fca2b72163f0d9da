// Makes the types from which the editor knows the script API: Playwright's
// published types with their documentation, without the members that our classes
// lack or refuse according to docs/api-table.md, so that the editor offers nothing
// that does not exist. The result is not committed.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Types from other modules, which Playwright's types mention and scripts do not have. */
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

/** Methods that take an event's name, and are declared once for each event. */
const LISTENERS = new Set(['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'prependListener', 'waitForEvent']);

/** Returns the texts of the declaration files, by their paths. */
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

/** Returns the members and events that scripts have, by class. */
function parseTable(text) {
  const table = new Map();
  let members;
  for (const line of text.split('\n')) {
    const heading = /^## (\w+)$/.exec(line);
    if (heading) table.set(heading[1], (members = { names: new Set(), events: new Set() }));
    const row = /^\| (event )?`([$\w]+)` \| ✓ \|$/.exec(line);
    if (row) (row[1] ? members.events : members.names).add(row[2]);
  }
  if (!table.get('Page')?.names.has('goto')) throw new Error('docs/api-table.md no longer says what Page has; see scripting/worker/apitable_test.go');
  return table;
}

/** Returns a declaration file, with each class of the table reduced to what scripts have. */
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

/** Returns the lines of a class with only the members that scripts have. */
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
  if (!name) return true; // a signature for calls or for new
  const event = LISTENERS.has(name) && /event: '(\w+)'/.exec(code)?.[1];
  return event ? events.has(event) : names.has(name);
}

const count = (text, pattern) => (text.match(pattern) ?? []).length;
