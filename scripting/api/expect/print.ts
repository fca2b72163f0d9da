// The texts of failed expectations: hints, labels, values and differences.

import { equals, iterableEquality, isAsymmetric } from './equality.ts';
import type { Labels, Printer } from '../extras/printer.ts';
import { Later } from '../core/later.ts';

const later = new Later<Printer>('printer');
const printer = (): Printer => later.get();

/** Prints a value on one line. */
export function stringify(value: unknown, maxDepth?: number, maxWidth?: number): string {
  return printer().stringify(value, maxDepth, maxWidth);
}

/** Options of the line that names the expectation. */
export interface HintOptions { comment?: string; isNot?: boolean; promise?: string; secondArgument?: string }

/** Returns the first line of an error: expect(received).not.toBe(expected) // Object.is equality. */
export function hint(name: string, received = 'received', expected = 'expected', o: HintOptions = {}): string {
  const promise = o.promise ? `.${o.promise}` : '';
  const args = [expected, ...o.secondArgument ? [o.secondArgument] : []].join(', ');
  return `${received === '' ? 'expect' : `expect(${received})`}${promise}${o.isNot ? '.not' : ''}.${name.replace(/^\./, '')}(${args})${o.comment ? ` // ${o.comment}` : ''}`;
}

/** Returns labels with colons, padded to the same width. */
export function labels(...names: string[]): (name: string) => string {
  const width = Math.max(...names.map(n => n.length));
  return name => `${name}: ${' '.repeat(width - name.length)}`;
}

/** Returns the type of a value in one word, for errors of matchers. */
export function typeOf(value: unknown): string {
  if (value === null)
    return 'null';
  if (Array.isArray(value))
    return 'array';
  if (typeof value !== 'object')
    return typeof value;
  for (const [name, type] of [['regexp', RegExp], ['map', Map], ['set', Set], ['date', Date]] as const) {
    if (value instanceof type)
      return name;
  }
  return 'object';
}

/** Returns the type and value of a wrong argument. */
export function withType(name: string, value: unknown, print: (value: unknown) => string = stringify): string {
  const type = typeOf(value);
  return `${type === 'null' || type === 'undefined' ? '' : `${name} has type:  ${type}\n`}${name} has value: ${print(value)}`;
}

/** Returns the difference of two values as lines, or both values. */
export function diffOrBoth(expected: unknown, received: unknown, expectedLabel = 'Expected', receivedLabel = 'Received'): string {
  const heads: Labels = { expected: expectedLabel, received: receivedLabel, counts: true };
  if (typeof expected === 'string' && typeof received === 'string') {
    if (expected && received && expected !== received && /\n/.test(expected + received))
      return printer().diffTexts(expected, received, heads);
  } else if (comparable(expected, received)) {
    const difference = printer().diffValues(...aligned(expected, received), heads);
    if (difference !== undefined)
      return difference;
  }
  const label = labels(expectedLabel, receivedLabel);
  const same = stringify(expected) === stringify(received);
  return `${label(expectedLabel)}${stringify(expected)}\n${label(receivedLabel)}${same ? 'serializes to the same string' : stringify(received)}`;
}

/** Returns the difference of two values for a custom matcher's message; null if they cannot be compared. */
export function diff(a: unknown, b: unknown): string | null {
  if (Object.is(a, b))
    return null;
  if (typeOf(a) !== typeOf(b))
    return `  Comparing two different types of values. Expected ${typeOf(a)} but received ${typeOf(b)}.`;
  if (typeof a === 'string')
    return printer().diffTexts(a, b as string);
  return typeof a === 'object' && a !== null ? printer().diffValues(a, b) ?? 'Compared values have no visual difference.' : null;
}

// Returns whether a line-by-line difference shows more than the two values do.
function comparable(expected: unknown, received: unknown): boolean {
  const type = typeOf(expected);
  if (type !== typeOf(received) || !['array', 'map', 'set', 'object'].includes(type))
    return false;
  if (expected instanceof Error && received instanceof Error)
    return false;
  if (isAsymmetric(expected) && (expected as { getExpectedType?(): string }).getExpectedType?.() !== 'object')
    return false;
  return !isAsymmetric(received);
}

// Returns copies in which the matcher replaces each value that an asymmetric matcher matches, so that the two do not differ there.
function aligned(expected: any, received: any, parents: unknown[] = []): [unknown, unknown] {
  if (parents.includes(expected) || typeOf(expected) !== typeOf(received) || isAsymmetric(expected) || isAsymmetric(received))
    return [expected, received];
  const inner = [...parents, expected];
  const pair = (x: unknown, y: unknown): [unknown, unknown] => {
    if (isAsymmetric(x) && x.asymmetricMatch(y))
      return [x, x];
    return x !== null && y !== null && typeof x === 'object' && typeof y === 'object' ? aligned(x, y, inner) : [x, y];
  };
  if (Array.isArray(expected)) {
    const [a, b] = [Array.from(expected as unknown[]), Array.from(received as unknown[])];
    for (let i = 0; i < Math.min(a.length, b.length); i++)
      [a[i], b[i]] = pair(a[i], b[i]);
    return [a, b];
  }
  if (expected instanceof Map) {
    const [a, b] = [new Map(expected), new Map(received as Map<unknown, unknown>)];
    for (const key of a.keys()) {
      if (b.has(key)) {
        const [x, y] = pair(a.get(key), b.get(key));
        a.set(key, x);
        b.set(key, y);
      }
    }
    return [a, b];
  }
  if (!isPlain(expected) || !isPlain(received))
    return [expected, received];
  const [a, b] = [copy(expected), copy(received)];
  let changed = false; // so that copying does not lose circular references
  for (const key of Object.keys(a)) {
    if (!Object.hasOwn(b, key))
      continue;
    const [x, y] = pair(a[key], b[key]);
    changed ||= x !== a[key] || y !== b[key];
    [a[key], b[key]] = [x, y];
  }
  return changed ? [a, b] : [expected, received];
}

// Returns whether an object consists only of its fields.
function isPlain(v: object): boolean {
  return Object.prototype.toString.call(v) === '[object Object]' && typeof (v as { toJSON?: unknown }).toJSON !== 'function';
}

function copy(v: object): Record<string, unknown> {
  return Object.assign(Object.create(Object.getPrototypeOf(v) as object | null) as Record<string, unknown>, v);
}

/** The this.utils of a custom matcher. */
export const matcherUtils = {
  matcherHint: (name: string, received?: string, expected?: string, o?: HintOptions) => hint(name, received, expected, o),
  printExpected: (value: unknown) => stringify(value),
  printReceived: (value: unknown) => stringify(value),
  printWithType: withType,
  printDiffOrStringify: (expected: unknown, received: unknown, expectedLabel: string, receivedLabel: string) => diffOrBoth(expected, received, expectedLabel, receivedLabel),
  diff,
  stringify,
  iterableEquality,
  equals,
};
