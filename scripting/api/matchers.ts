// expect's generic matchers: what holds of plain values.

import { contains, equals } from './equality.ts';
import { inspect } from './inspect.ts';

/** What a matcher found; detail goes below the first line of its error. */
export interface Outcome { pass: boolean; expected?: unknown; received?: unknown }

type Matcher = (received: any, ...args: any[]) => Outcome;

const compare = (f: (a: any, b: any) => boolean): Matcher => (received, expected) => ({ pass: f(received, expected), expected, received });
const state = (f: (a: any) => boolean): Matcher => received => ({ pass: f(received), received });

/** The matchers by name. A new one is a line here. */
export const matchers: Record<string, Matcher> = {
  toBe: compare(Object.is),
  toEqual: compare((a, b) => equals(a, b)),
  toStrictEqual: compare((a, b) => equals(a, b, true)),
  toMatchObject: compare(contains),
  toBeTruthy: state(Boolean),
  toBeFalsy: state(a => !a),
  toBeNull: state(a => a === null),
  toBeUndefined: state(a => a === undefined),
  toBeDefined: state(a => a !== undefined),
  toBeNaN: state(Number.isNaN),
  toBeGreaterThan: compare((a, b) => a > b),
  toBeGreaterThanOrEqual: compare((a, b) => a >= b),
  toBeLessThan: compare((a, b) => a < b),
  toBeLessThanOrEqual: compare((a, b) => a <= b),
  toBeCloseTo: (received, expected, digits = 2) => ({ pass: received === expected || Math.abs(expected - received) < 10 ** -digits / 2, expected, received }),
  toBeInstanceOf: (received, expected) => ({ pass: received instanceof expected, expected: expected?.name, received }),
  toContain: compare((a, b) => (typeof a === 'string' ? a.includes(String(b)) : [...a].includes(b))),
  toContainEqual: compare((a, b) => [...a].some(x => equals(x, b))),
  toHaveLength: (received, expected) => ({ pass: received?.length === expected, expected, received: received?.length }),
  toMatch: compare((a, b) => (typeof b === 'string' ? a.includes(b) : b.test(a))),
  toHaveProperty(received, path: string | string[], ...expected) {
    let value = received;
    for (const key of Array.isArray(path) ? path : path.split(/[.[\]]+/).filter(Boolean)) {
      if (value === null || value === undefined || !(key in Object(value)))
        return { pass: false, expected: path, received };
      value = value[key];
    }
    return { pass: !expected.length || equals(value, expected[0]), expected: expected.length ? expected[0] : path, received: value };
  },
  toThrow(received, expected) {
    let thrown: unknown;
    let threw = false;
    try {
      if (typeof received === 'function') {
        received();
      } else {
        thrown = received; // of .rejects
        threw = true;
      }
    } catch (e) {
      thrown = e;
      threw = true;
    }
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const pass = threw && (expected === undefined
      || (typeof expected === 'string' ? message.includes(expected)
        : expected instanceof RegExp ? expected.test(message)
          : typeof expected === 'function' ? thrown instanceof expected : message === expected.message));
    return { pass, expected, received: threw ? thrown : 'nothing was thrown' };
  },
};
matchers['toThrowError'] = matchers['toThrow']!;

/** The error of a matcher that did not hold. */
export function complaint(name: string, not: boolean, o: Outcome, message: string | undefined): string {
  const lines = [`${message ?? `expect(received)${not ? '.not' : ''}.${name}(${'expected' in o ? 'expected' : ''})`}`, ''];
  if (message)
    lines.push(`expect(received)${not ? '.not' : ''}.${name}(${'expected' in o ? 'expected' : ''})`, '');
  if ('expected' in o)
    lines.push(`Expected: ${not ? 'not ' : ''}${shown(o.expected)}`);
  lines.push(`Received: ${shown(o.received)}`);
  return lines.join('\n');
}

function shown(v: unknown): string {
  return typeof v === 'string' ? JSON.stringify(v) : inspect(v);
}

/** expect.any(), expect.objectContaining() and their kin. */
export const asymmetric = {
  anything: () => asymmetricMatcher('Anything', v => v !== null && v !== undefined),
  any: (type: any) => asymmetricMatcher(`Any<${type?.name}>`, v => v instanceof type || Object(v) instanceof type && typeof v !== 'object'),
  arrayContaining: (items: unknown[]) => asymmetricMatcher('ArrayContaining', v => Array.isArray(v) && items.every(i => v.some(x => equals(x, i)))),
  objectContaining: (part: object) => asymmetricMatcher('ObjectContaining', v => contains(v, part)),
  stringContaining: (part: string) => asymmetricMatcher('StringContaining', v => typeof v === 'string' && v.includes(part)),
  stringMatching: (re: RegExp | string) => asymmetricMatcher('StringMatching', v => typeof v === 'string' && new RegExp(re).test(v)),
  closeTo: (n: number, digits = 2) => asymmetricMatcher('CloseTo', v => typeof v === 'number' && Math.abs(v - n) < 10 ** -digits / 2),
};

function asymmetricMatcher(name: string, asymmetricMatch: (v: any) => boolean): object {
  return Object.defineProperty({ name }, 'asymmetricMatch', { value: asymmetricMatch, enumerable: false });
}
