// expect's generic matchers for plain values, with Jest's wording.

import { deepEqual, equals, has, iterableEquality, strictEqual, subsetEquality } from './equality.ts';
import { diffOrBoth, hint, labels, stringify } from './print.ts';
import { constructors, hintOf, nameOf, refuseValue, type Matcher, type MatcherResult, type MatcherState } from './matcher.ts';
import { throwing } from './throwing.ts';

type Generic = (this: MatcherState, received: any, ...args: any[]) => MatcherResult;

function state(name: string, holds: (v: unknown) => boolean): Generic {
  return function (received, ...args) {
    const head = () => hintOf(this, name, '');
    if (args[0] !== undefined)
      refuseValue(Error, head(), 'this matcher must not have an expected argument', ['Expected', args[0]]);
    return { pass: holds(received), message: () => `${head()}\n\nReceived: ${stringify(received)}` };
  };
}

function ordering(name: string, sign: string, holds: (a: number, b: number) => boolean): Generic {
  return function (received, expected) {
    const head = hintOf(this, name, 'expected');
    for (const [label, value] of [['Received', received], ['Expected', expected]] as const) {
      if (typeof value !== 'number' && typeof value !== 'bigint')
        refuseValue(Error, head, `${label.toLowerCase()} value must be a number or bigint`, [label, value]);
    }
    const word = `${this.isNot ? 'not ' : ''}${sign} `;
    return {
      pass: holds(received, expected),
      message: () => `${head}\n\nExpected: ${word}${stringify(expected)}\nReceived: ${' '.repeat(word.length)}${stringify(received)}`,
    };
  };
}

function equality(name: string, same: (a: unknown, b: unknown) => boolean): Generic {
  return function (received, expected) {
    const pass = same(received, expected);
    const head = () => hintOf(this, name, 'expected', { comment: 'deep equality' });
    const message = () => {
      if (!pass)
        return `${head()}\n\n${diffOrBoth(expected, received)}`;
      const seen = stringify(expected) === stringify(received) ? '' : `Received:     ${stringify(received)}`;
      return `${head()}\n\nExpected: not ${stringify(expected)}\n${seen}`;
    };
    return { pass, message, name, expected, actual: received };
  };
}

const generic: Record<string, Generic> = {
  toBe(received, expected) {
    const pass = Object.is(received, expected);
    const message = () => {
      const head = hintOf(this, 'toBe', 'expected', { comment: 'Object.is equality' });
      if (pass)
        return `${head}\n\nExpected: not ${stringify(expected)}`;
      const matcher = strictEqual(received, expected) ? 'toStrictEqual' : deepEqual(received, expected) ? 'toEqual' : '';
      const advice = matcher && typeof expected !== 'function' ? `If it should pass with deep equality, replace "toBe" with "${matcher}"\n\n` : '';
      return `${head}\n\n${advice}${diffOrBoth(expected, received)}`;
    };
    return { pass, message, name: 'toBe', expected, actual: received };
  },
  toEqual: equality('toEqual', deepEqual),
  toStrictEqual: equality('toStrictEqual', strictEqual),

  toBeTruthy: state('toBeTruthy', Boolean),
  toBeFalsy: state('toBeFalsy', v => !v),
  toBeNull: state('toBeNull', v => v === null),
  toBeUndefined: state('toBeUndefined', v => v === undefined),
  toBeDefined: state('toBeDefined', v => v !== undefined),
  toBeNaN: state('toBeNaN', Number.isNaN),

  toBeGreaterThan: ordering('toBeGreaterThan', '>', (a, b) => a > b),
  toBeGreaterThanOrEqual: ordering('toBeGreaterThanOrEqual', '>=', (a, b) => a >= b),
  toBeLessThan: ordering('toBeLessThan', '<', (a, b) => a < b),
  toBeLessThanOrEqual: ordering('toBeLessThanOrEqual', '<=', (a, b) => a <= b),

  toBeCloseTo(received, expected, precision = 2) {
    const head = hintOf(this, 'toBeCloseTo', 'expected', arguments.length > 2 ? { secondArgument: 'precision' } : {});
    for (const [label, value] of [['Expected', expected], ['Received', received]] as const) {
      if (typeof value !== 'number')
        refuseValue(TypeError, head, `${label.toLowerCase()} value must be a number`, [label, value]);
    }
    const infinite = Math.abs(received) === Infinity && received === expected;
    const difference = infinite ? 0 : Math.abs(expected - received);
    const most = 10 ** -precision / 2;
    const pass = infinite || difference < most;
    const message = () => {
      const exact = stringify(expected) === stringify(received);
      if (pass && exact)
        return `${head}\n\nExpected: not ${stringify(expected)}\n`;
      const not = this.isNot ? 'not ' : '';
      const pad = ' '.repeat(not.length);
      return `${head}\n\nExpected: ${not}${stringify(expected)}\nReceived: ${pad}${stringify(received)}\n\n`
        + `Expected precision:    ${pad}${precision}\nExpected difference: ${not}< ${decimal(most, precision)}\nReceived difference: ${pad}  ${stringify(difference)}`;
    };
    return { pass, message };
  },

  toBeInstanceOf(received, expected) {
    const head = hintOf(this, 'toBeInstanceOf', 'expected');
    if (typeof expected !== 'function')
      refuseValue(TypeError, head, 'expected value must be a function', ['Expected', expected]);
    const pass = received instanceof expected;
    const message = () => {
      if (pass)
        return `${head}\n\n${constructors(received.constructor, expected, true)}`;
      const constructor = typeof received === 'object' && received !== null && received.constructor;
      if (typeof constructor !== 'function')
        return `${head}\n\nExpected constructor: ${nameOf(expected)}\n\nReceived value has no prototype\nReceived value: ${stringify(received)}`;
      return `${head}\n\n${constructors(constructor, expected, false)}`;
    };
    return { pass, message };
  },

  toContain(received, expected) {
    const head = (subject?: string, item?: string) => hint('toContain', subject, item, { comment: 'indexOf', isNot: this.isNot, promise: this.promise });
    if (received === null || received === undefined)
      refuseValue(Error, head(), 'received value must not be null nor undefined', ['Received', received]);
    if (typeof received === 'string') {
      if (typeof expected !== 'string') {
        refuseValue(TypeError, head(received, String(expected)), 'expected value must be a string if received value is a string',
          ['Expected', expected], ['Received', received]);
      }
      return { pass: received.includes(expected), message: () => `${head()}\n\n${sides(this.isNot, 'Expected substring', expected, 'Received string', received)}` };
    }
    const items = itemsOf(received);
    const pass = items.includes(expected) && (expected === expected); // NaN is never found
    const message = () => {
      const advice = !pass && items.some(item => deepEqual(item, expected))
        ? '\n\nLooks like you wanted to test for object/array equality with the stricter `toContain` matcher. You probably need to use `toContainEqual` instead.' : '';
      return `${head()}\n\n${sides(this.isNot, 'Expected value', expected, `Received ${kindOf(received)}`, received)}${advice}`;
    };
    return { pass, message };
  },

  toContainEqual(received, expected) {
    const head = hintOf(this, 'toContainEqual', 'expected', { comment: 'deep equality' });
    if (received === null || received === undefined)
      refuseValue(Error, head, 'received value must not be null nor undefined', ['Received', received]);
    const pass = itemsOf(received).some(item => deepEqual(item, expected));
    return { pass, message: () => `${head}\n\n${sides(this.isNot, 'Expected value', expected, `Received ${kindOf(received)}`, received)}` };
  },

  toHaveLength(received, expected) {
    const head = hintOf(this, 'toHaveLength', 'expected');
    const length: unknown = received?.length;
    if (typeof length !== 'number')
      refuseValue(TypeError, head, 'received value must have a length property whose value must be a number', ['Received', received]);
    if (!Number.isSafeInteger(expected) || expected < 0)
      refuseValue(Error, head, 'expected value must be a non-negative integer', ['Expected', expected]);
    const message = () => {
      const [wanted, got, value] = ['Expected length', 'Received length', `Received ${kindOf(received)}`];
      const label = labels(wanted, got, value);
      if (this.isNot)
        return `${head}\n\n${label(wanted)}not ${expected}\n${label(value)}    ${stringify(received)}`;
      return `${head}\n\n${label(wanted)}${expected}\n${label(got)}${length}\n${label(value)}${stringify(received)}`;
    };
    return { pass: length === expected, message };
  },

  toMatch(received, expected) {
    const head = hintOf(this, 'toMatch', 'expected');
    if (typeof received !== 'string')
      refuseValue(TypeError, head, 'received value must be a string', ['Received', received]);
    if (typeof expected !== 'string' && !(expected instanceof RegExp))
      refuseValue(Error, head, 'expected value must be a string or regular expression', ['Expected', expected]);
    const pass = typeof expected === 'string' ? received.includes(expected) : new RegExp(expected).test(received);
    return { pass, message: () => `${head}\n\n${sides(this.isNot, `Expected ${typeof expected === 'string' ? 'substring' : 'pattern'}`, expected, 'Received string', received)}` };
  },

  toMatchObject(received, expected) {
    const head = hintOf(this, 'toMatchObject', 'expected');
    for (const [label, value] of [['Received', received], ['Expected', expected]] as const) {
      if (typeof value !== 'object' || value === null)
        refuseValue(Error, head, `${label.toLowerCase()} value must be a non-null object`, [label, value]);
    }
    const pass = equals(received, expected, [iterableEquality, subsetEquality]);
    const message = () => {
      if (!pass)
        return `${head}\n\n${diffOrBoth(expected, subset(received, expected))}`;
      const seen = stringify(expected) === stringify(received) ? '' : `\nReceived:     ${stringify(received)}`;
      return `${head}\n\nExpected: not ${stringify(expected)}${seen}`;
    };
    return { pass, message };
  },

  toHaveProperty(received, path: string | PropertyKey[], ...values) {
    const withValue = values.length > 0;
    const head = hintOf(this, 'toHaveProperty', 'path', withValue ? { secondArgument: 'value' } : {});
    if (received === null || received === undefined)
      refuseValue(Error, head, 'received value must not be null nor undefined', ['Received', received]);
    if (typeof path !== 'string' && !Array.isArray(path))
      refuseValue(Error, head, 'expected path must be a string or array', ['Expected', path]);
    const keys = typeof path === 'string' ? keysOfPath(path) : path;
    if (Array.isArray(path) && !path.length)
      refuseValue(Error, head, 'expected path must not be an empty array', ['Expected', path]);
    const found = follow(received, keys);
    const complete = found.passed.length === keys.length;
    const pass = complete && (!withValue || equals(found.value, values[0], [iterableEquality]));
    const message = () => {
      if (pass && !withValue)
        return `${head}\n\nExpected path: not ${stringify(path)}\n\nReceived value: ${stringify(found.value)}`;
      if (pass) {
        const seen = stringify(values[0]) === stringify(found.value) ? '' : `\nReceived value:     ${stringify(found.value)}`;
        return `${head}\n\nExpected path: ${stringify(path)}\n\nExpected value: not ${stringify(values[0])}${seen}`;
      }
      if (complete)
        return `${head}\n\nExpected path: ${stringify(path)}\n\n${diffOrBoth(values[0], found.value, 'Expected value', 'Received value')}`;
      const passed = typeof path === 'string' && found.passed.length ? found.passed.join('.') : found.passed;
      return `${head}\n\nExpected path: ${stringify(path)}\nReceived path: ${stringify(passed)}\n\n`
        + `${withValue ? `Expected value: ${stringify(values[0])}\n` : ''}Received value: ${stringify(found.value)}`;
    };
    return { pass, message };
  },

  toThrow: throwing('toThrow'),
  toThrowError: throwing('toThrowError'),
};

/** The generic matchers by name. To add one, add an entry above. */
export const matchers: Readonly<Record<string, Matcher>> = generic;

/** Returns the expected value above the received one, with aligned labels. */
function sides(not: boolean, wanted: string, expected: unknown, got: string, received: unknown): string {
  const label = labels(wanted, got);
  return `${label(wanted)}${not ? 'not ' : ''}${stringify(expected)}\n${label(got)}${not ? '    ' : ''}${stringify(received)}`;
}

function itemsOf(received: any): unknown[] {
  if (typeof received[Symbol.iterator] !== 'function')
    throw new TypeError('received is not iterable');
  return Array.from(received as Iterable<unknown>);
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object')
    return typeof value;
  return Array.isArray(value) ? 'array' : value instanceof Set ? 'set' : value instanceof Map ? 'map' : 'object';
}

function decimal(n: number, digits: number): string {
  return Number.isInteger(digits) && digits >= 0 && digits < 20 ? n.toFixed(digits + 1) : String(n);
}

/** Returns the keys of a path such as a.b[0].c. */
function keysOfPath(path: string): string[] {
  if (path === '')
    return [''];
  return path.replace(/\[(?:"([^"]*)"|'([^']*)'|([^\]]*))\]/g, (_, double?: string, single?: string, plain?: string) => `.${double ?? single ?? plain ?? ''}`).replace(/^\./, '').split('.');
}

// Follows a path as far as it exists.
function follow(object: any, keys: readonly PropertyKey[]): { passed: PropertyKey[]; value: any } {
  const passed: PropertyKey[] = [];
  let value = object;
  for (const key of keys) {
    if (!has(value, key))
      break;
    passed.push(key);
    value = value[key];
  }
  return { passed, value };
}

// Returns the part of object that pattern describes, for the message.
function subset(object: any, pattern: any): unknown {
  if (Array.isArray(object)) {
    if (!Array.isArray(pattern) || pattern.length !== object.length)
      return object;
    return object.map((item, i) => subset(item, pattern[i]));
  }
  if (object === null || typeof object !== 'object' || object instanceof Date || pattern === null || typeof pattern !== 'object')
    return object;
  if (equals(object, pattern, [iterableEquality, subsetEquality]))
    return pattern;
  const out: Record<string, unknown> = Object.create(Object.getPrototypeOf(object) as object | null) as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    if (has(pattern, key))
      out[key] = subset(object[key], pattern[key]);
  }
  return Object.keys(out).length ? out : object;
}
