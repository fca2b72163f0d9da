// Makes what the editor knows of the script API: Playwright's published types,
// documentation included, reduced to the members that our classes have, so that
// nothing is offered that does not exist. Nothing of it is committed.
import { build } from 'esbuild';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import vm from 'node:vm';

/** Our classes by the file of scripting/api that exports them. */
const CLASSES = {
  browser: ['Browser', 'BrowserType'], context: ['BrowserContext'], dialog: ['Dialog'], frame: ['Frame'], handle: ['ElementHandle', 'JSHandle'],
  input: ['Keyboard', 'Mouse', 'Touchscreen'], locator: ['FrameLocator', 'Locator'], network: ['Request', 'Response'], page: ['Page'],
};

/** Made by constructors, so that no prototype shows them. */
const FIELDS = { Page: ['keyboard', 'mouse', 'touchscreen'] };

/** Methods that take an event's name: an overload each. */
const LISTENERS = new Set(['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'prependListener', 'waitForEvent']);

/** Returns { path: text } of declaration files. */
export async function scriptTypes(root) {
  const api = path.join(root, 'scripting/api');
  const types = path.join(root, 'node_modules/playwright-core/types');
  const have = await members(api);
  const events = await emitted(api);
  const blocks = parse(await readFile(path.join(types, 'types.d.ts'), 'utf8'));
  const structs = await readFile(path.join(types, 'structs.d.ts'), 'utf8');

  const out = new Map();
  const missing = new Set();
  const add = (name) => {
    if (out.has(name) || missing.has(name)) return;
    const block = blocks.get(name);
    if (!block) {
      missing.add(name);
      return;
    }
    const text = have.has(name) ? reduce(block, have.get(name), events) : block;
    out.set(name, text);
    for (const used of referenced(text)) if (blocks.has(used) && !unknown(used)) add(used);
  };
  // A class of Playwright's that is none of ours: what mentions it takes anything.
  const unknown = (name) => !have.has(name) && looksLikeClass(blocks.get(name));
  for (const name of have.keys()) add(name);
  for (const used of referenced(structs)) if (blocks.has(used)) add(used);
  if (out.size < have.size) throw new Error(`playwright-core's types no longer hold ${[...have.keys()].filter((name) => !out.has(name)).join(', ')}`);

  const text = [...out.values()].join('\n\n');
  const declared = new Set(out.keys());
  const loose = [...referenced(text)].filter((name) => blocks.has(name) && !declared.has(name));
  const header = /\/\*\*[\s\S]*?\*\//.exec(structs)?.[0] ?? '';
  return {
    'file:///playwright.d.ts': [
      header,
      `import { ${structNames(structs).join(', ')} } from './structs';`,
      ...['ReadStream', 'Readable', ...loose].map((name) => `type ${name} = any;`),
      text,
    ].join('\n'),
    'file:///structs.d.ts': structs.replace(/from '[^']*'/g, `from './playwright'`),
  };
}

/** The public members of our classes, by running the classes outside of a worker. */
async function members(api) {
  const contents = Object.entries(CLASSES).map(([file, names]) => `export { ${names.join(', ')} } from './${file}.ts';`).join('\n');
  const { outputFiles } = await build({ stdin: { contents, resolveDir: api, loader: 'ts' }, bundle: true, write: false, format: 'iife', globalName: 'exports', target: 'esnext', logLevel: 'warning' });
  const context = vm.createContext({ host: new Proxy({}, { get: () => () => {} }) });
  const code = `${outputFiles[0].text};
    JSON.stringify(Object.entries(exports).map(([name, made]) => {
      const names = new Set();
      for (let p = made.prototype; p && p !== Object.prototype; p = Object.getPrototypeOf(p)) Object.getOwnPropertyNames(p).forEach((n) => names.add(n));
      return [name, [...names].filter((n) => n !== 'constructor' && !n.startsWith('_'))];
    }))`;
  const found = JSON.parse(vm.runInContext(code, context));
  return new Map(found.map(([name, names]) => [name, new Set([...names, ...(FIELDS[name] ?? [])])]));
}

/** The events that our classes emit. */
async function emitted(api) {
  const events = new Set(['load', 'domcontentloaded']);
  for (const name of await readdir(api)) {
    if (!name.endsWith('.ts')) continue;
    for (const [, event] of (await readFile(path.join(api, name), 'utf8')).matchAll(/\bemit\('(\w+)'/g)) events.add(event);
  }
  return events;
}

/** Top-level interfaces and type aliases by name. */
function parse(text) {
  const blocks = new Map();
  let name = '';
  let lines = [];
  for (const line of text.split('\n')) {
    if (!name) {
      const start = /^(?:export )?(?:interface|type) (\w+)/.exec(line);
      if (!start) continue;
      name = start[1];
      lines = [];
    }
    lines.push(line);
    const whole = lines.length === 1 && /(;|\})\s*$/.test(line);
    if (whole || /^\};?\s*$/.test(line) || (!lines[0].includes('{') && /;\s*$/.test(line))) {
      blocks.set(name, lines.join('\n'));
      name = '';
    }
  }
  return blocks;
}

/** An interface with only the members that are there. */
function reduce(block, have, events) {
  const lines = block.split('\n');
  const kept = [lines[0]];
  let member = [];
  let depth = 0;
  let comment = false;
  for (const line of lines.slice(1, -1)) {
    member.push(line);
    if (comment || /^\s*\/\*\*/.test(line)) {
      comment = !line.includes('*/');
      continue;
    }
    depth += count(line, /[({[]/g) - count(line, /[)}\]]/g);
    if (depth > 0 || !/[;}]\s*$/.test(line)) continue;
    if (wanted(member, have, events)) kept.push(...member);
    member = [];
  }
  return [...kept, lines.at(-1)].join('\n');
}

function wanted(member, have, events) {
  const code = member.find((line) => line.trim() && !/^\s*(\/?\*|\*)/.test(line)) ?? '';
  const name = /^\s*(?:readonly )?([\w$]+)/.exec(code)?.[1];
  if (!name || !have.has(name)) return false;
  const event = LISTENERS.has(name) && /event: '(\w+)'/.exec(code)?.[1];
  return !event || events.has(event);
}

/** An interface with methods, as against one that only describes an object. */
function looksLikeClass(block) {
  return /^ {2}\w+(<[^>]*>)?\([^\n]*\): [^\n]*;$/m.test(block);
}

function referenced(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '');
  return new Set([...code.matchAll(/\b[A-Z]\w+\b/g)].map(([name]) => name));
}

function structNames(structs) {
  return [...structs.matchAll(/^export type (\w+)/gm)].map(([, name]) => name);
}

const count = (text, pattern) => (text.match(pattern) ?? []).length;
