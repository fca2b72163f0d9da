// The test object, with which a file declares its tests.

import { Pool, type FixtureList } from './pool.ts';
import { errorAt, here, type Location } from './location.ts';
import type { Mark, TestInfo } from './info.ts';
import { runStep, type StepOptions, type TestStepInfo } from './steps.ts';
import { state } from './state.ts';
import { Suite, Test, type Annotation, type Body, type Hook, type Mode } from './suite.ts';

interface Details { tag?: string | string[]; annotation?: Annotation | Annotation[]; lock?: string | string[] }

type Declare = (...args: unknown[]) => void;

/** The fixtures of a test object, for mergeTests and the runner. */
const listsOf = new WeakMap<Function, readonly FixtureList[]>();

/** Creates a test object with these fixtures. `expect` becomes its test.expect. */
export function makeTest(lists: readonly FixtureList[], expect: unknown) {
  const test = (...args: unknown[]) => declare('test()', lists, 'plain', args);
  listsOf.set(test, lists);
  const describe = Object.assign(group('describe'), {
    only: group('describe.only', { only: true }),
    skip: group('describe.skip', { mark: 'skip' }),
    fixme: group('describe.fixme', { mark: 'fixme' }),
    serial: Object.assign(group('describe.serial', { mode: 'serial' }), { only: group('describe.serial.only', { mode: 'serial', only: true }) }),
    parallel: Object.assign(group('describe.parallel', { mode: 'parallel' }), { only: group('describe.parallel.only', { mode: 'parallel', only: true }) }),
    configure,
  });
  return Object.assign(test, {
    only: (...args: unknown[]) => declare('test()', lists, 'only', args),
    describe,
    skip: (...args: unknown[]) => mark(lists, 'skip', args),
    fixme: (...args: unknown[]) => mark(lists, 'fixme', args),
    fail: Object.assign((...args: unknown[]) => mark(lists, 'fail', args), { only: (...args: unknown[]) => declare('test.fail.only()', lists, 'fail', args, true) }),
    slow: (...args: unknown[]) => mark(lists, 'slow', args),
    abort,
    setTimeout,
    beforeEach: hook('beforeEach'),
    afterEach: hook('afterEach'),
    beforeAll: hook('beforeAll'),
    afterAll: hook('afterAll'),
    use(fixtures: Record<string, unknown>) {
      suite('test.use()').uses.push({ fixtures, location: here(), use: true });
    },
    step: Object.assign(step('pass'), { skip: step('skip') }),
    expect,
    extend: (fixtures: Record<string, unknown>): unknown => makeTest([...lists, { fixtures, location: here() }], expect),
    info,
  });
}

/** Creates one test object with the fixtures of all given ones. */
export function mergeTests(...tests: Function[]): unknown {
  const merged: FixtureList[] = [];
  for (const test of tests) {
    const lists = listsOf.get(test);
    if (!lists)
      throw new Error('mergeTests() accepts "test" functions as parameters.\nDid you mean to call test.extend() with fixtures instead?');
    merged.push(...lists.filter(l => !merged.includes(l)));
  }
  return makeTest(merged, (tests[0] as unknown as { expect: unknown }).expect);
}

/** Returns the group that is being declared. */
function suite(call: string): Suite {
  if (!state.loading) {
    throw new Error([
      `Playwright Test did not expect ${call} to be called here.`,
      'Most common reasons include:',
      `- You are calling ${call} while a test runs: tests are declared before the first one runs.`,
      `- You are calling ${call} from an async test.describe() block. Only sync ones are supported.`,
    ].join('\n'));
  }
  state.used = true;
  return state.loading;
}

function declare(call: string, lists: readonly FixtureList[], type: 'plain' | 'only' | Mark, args: readonly unknown[], only = type === 'only'): void {
  const parent = suite(call);
  const location = here();
  const { details, body } = declaration(args);
  const title = String(args[0]);
  const path = [...parent.lineage().slice(1).map(s => s.title), title].filter(Boolean);
  const twin = state.titles.get(path.join('\x1e'));
  if (twin)
    throw errorAt(`duplicate test title "${path.join(' › ')}", first declared in ${place(twin)}`, location);
  const annotations = annotationsOf(details, location);
  if (type !== 'plain' && type !== 'only')
    annotations.push({ type, location });
  const test = new Test(title, parent, location, body, lists, annotations, [...inherited(parent), ...tagsIn(title), ...tagsOf(details)]);
  test.only = only;
  state.titles.set(path.join('\x1e'), test);
  parent.entries.push(test);
}

const place = (t: Test): string => (t.location ? `${t.location.file}:${t.location.line}` : 'the script');
const inherited = (s: Suite): string[] => s.lineage().flatMap(each => each.tags);
const tagsIn = (title: string): string[] => title.match(/@[\S]+/g) ?? [];

function tagsOf(details: Details): string[] {
  const tags = details.tag === undefined ? [] : [details.tag].flat();
  if (tags.some(t => !String(t).startsWith('@')))
    throw new Error(`Tag must start with '@'`);
  return tags;
}

function annotationsOf(details: Details, location: Location | undefined): Annotation[] {
  return [details.annotation ?? []].flat().map(a => ({ ...a, location: a.location ?? location }));
}

/** Splits the arguments after a title into details, which may be missing, and a function. */
function declaration(args: readonly unknown[]): { details: Details; body: Body } {
  const [, second, third] = args;
  if (typeof second === 'function')
    return { details: {}, body: second as Body };
  if (typeof second !== 'object' || second === null)
    throw new Error(`details: expected object, got ${second === null ? 'null' : typeof second}`);
  if (typeof third !== 'function')
    throw new Error(`body: expected function, got ${third === null ? 'null' : typeof third}`);
  return { details: second as Details, body: third as Body };
}

/** Implements test.skip and similar calls: they declare a test, mark a group, or mark the running test. */
function mark(lists: readonly FixtureList[], type: Mark, args: readonly unknown[]): void {
  if (type !== 'slow' && typeof args[0] === 'string' && (typeof args[1] === 'function' || typeof args[1] === 'object' && args[1] !== null && typeof args[2] === 'function'))
    return declare(`test.${type}()`, lists, type, args);
  if (state.info && !state.loading)
    return state.info._mark(type, args, here());
  if (!state.loading)
    throw new Error(`test.${type}() can only be called inside test, describe block or fixture`);
  const parent = suite(`test.${type}()`);
  const location = here();
  const [first, second] = args;
  if (typeof first === 'function') {
    parent.modifiers.push({ type, body: first as Body, description: second as string | undefined, location });
    return;
  }
  const described = typeof first === 'string';
  if (args.length > 0 && !described && !first)
    return;
  const description = (described ? first : second) as string | undefined;
  parent.annotations.push({ type, ...description === undefined ? {} : { description }, location });
}

function group(name: string, how: { only?: boolean; mark?: 'skip' | 'fixme'; mode?: Mode } = {}): Declare {
  return (...args: unknown[]) => {
    const parent = suite(`test.${name}()`);
    const location = here();
    const anonymous = typeof args[0] === 'function';
    const { details, body } = declaration(anonymous ? ['', args[0]] : args);
    const child = new Suite(anonymous ? '' : String(args[0]), parent, location);
    child.only = how.only ?? false;
    child.annotations.push(...annotationsOf(details, location));
    child.tags.push(...tagsIn(child.title), ...tagsOf(details));
    if (how.mark)
      child.annotations.push({ type: how.mark, location });
    if (how.mode)
      setMode(child, how.mode);
    parent.entries.push(child);
    state.loading = child;
    try {
      (body as () => unknown)();
    } finally {
      state.loading = parent;
    }
  };
}

function setMode(of: Suite, mode: Mode): void {
  if (of.mode)
    throw new Error(`"${of.mode}" mode is already assigned for the enclosing scope.`);
  if (mode === 'parallel' && of.lineage().some(s => s.mode === 'serial'))
    throw new Error('describe.parallel cannot be nested inside describe.serial');
  if (mode === 'serial')
    of.annotations.push({ type: mode, location: here() });
  of.mode = mode;
}

function configure(options: { mode?: Mode; retries?: number; timeout?: number; lock?: unknown }): void {
  const of = suite('test.describe.configure()');
  if (options.timeout !== undefined)
    of.timeout = options.timeout;
  if (options.retries !== undefined)
    of.retries = options.retries;
  if (options.mode !== undefined)
    setMode(of, options.mode);
}

function hook(type: Hook['type']): Declare {
  return (...args: unknown[]) => {
    const of = suite(`test.${type}()`);
    const [title, body] = typeof args[0] === 'string' ? [args[0], args[1]] : [`${type} hook`, args[0]];
    if (typeof body !== 'function')
      throw new Error(`body: expected function, got ${body === null ? 'null' : typeof body}`);
    of.hooks.push({ type, title, body: body as Body, location: here() });
  };
}

function setTimeout(ms: number): void {
  if (state.info && !state.loading)
    state.info.setTimeout(ms);
  else
    suite('test.setTimeout()').timeout = ms;
}

function step(mode: 'pass' | 'skip') {
  return (title: string, body: (step: TestStepInfo) => unknown, options?: StepOptions) => {
    if (!state.info)
      throw new Error('test.step() can only be called from a test');
    return runStep(mode, state.info, String(title), body, options);
  };
}

function abort(message?: string): never {
  if (!state.info || state.loading)
    throw new Error('test.abort() can only be called while test is running');
  const error = new Error(message === undefined ? 'Test aborted' : `Test aborted: ${message}`);
  state.info._annotate({ type: 'abort', ...message === undefined ? {} : { description: message }, location: here() });
  state.info._failed(error);
  state.deadlines.abort(error);
  throw error;
}

function info(): TestInfo {
  if (!state.info || state.loading)
    throw new Error('test.info() can only be called while test is running');
  return state.info;
}

const pools = new Map<readonly FixtureList[], Map<Suite, Pool>>();

/** Returns the fixtures for tests of a test object in a group. */
export function poolOf(lists: readonly FixtureList[], of: Suite): Pool {
  const bySuite = pools.get(lists) ?? new Map<Suite, Pool>();
  pools.set(lists, bySuite);
  let pool = bySuite.get(of);
  if (!pool) {
    const around = of.parent ? poolOf(lists, of.parent) : new Pool(lists);
    pool = of.uses.length ? new Pool(of.uses, around, !!of.parent) : around;
    bySuite.set(of, pool);
  }
  return pool;
}

/** Throws if a test cannot run because a function needs fixtures that do not exist. */
export function validate(tests: readonly Test[]): void {
  for (const test of tests) {
    const pool = poolOf(test.lists, test.parent);
    for (const s of test.parent.lineage()) {
      s.hooks.forEach(h => pool.validate(h.body, `${h.type} hook`, h.location));
      s.modifiers.forEach(m => pool.validate(m.body, `${m.type} modifier`, m.location));
    }
    pool.validate(test.body, 'Test', test.location);
  }
}

