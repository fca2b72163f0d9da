// The common part of all matchers: arguments, results, and parts of messages.

import type { equals, Tester } from './equality.ts';
import { hint, withType, type HintOptions, type matcherUtils } from './print.ts';

/** The `this` of a matcher. */
export interface MatcherState {
  isNot: boolean;
  promise: '' | 'resolves' | 'rejects';
  /** Milliseconds. */
  timeout: number;
  /** The expectation's own message. */
  title: string;
  utils: typeof matcherUtils;
  equals: typeof equals;
  customTesters: readonly Tester[];
}

/** The result of a matcher. The message is needed only when the result is not the expected one. */
export interface MatcherResult {
  pass: boolean;
  message: () => string;
  name?: string;
  expected?: unknown;
  actual?: unknown;
  log?: string[];
  timeout?: number;
  ariaSnapshot?: string;
}

/** A matcher, ours or one from expect.extend: it gets the subject and the arguments, and returns whether the expectation is met. */
export type Matcher = (this: MatcherState, received: any, ...args: any[]) => MatcherResult | Promise<MatcherResult>;

/** Returns the first line of a matcher's message. */
export function hintOf(state: MatcherState, name: string, expected: string, o: HintOptions = {}): string {
  return hint(name, 'received', expected, { ...o, isNot: state.isNot, promise: state.promise });
}

/** Throws an error about an argument that a matcher cannot use. */
export function refuseValue(kind: typeof Error, head: string, what: string, ...values: [string, unknown][]): never {
  throw new kind(`${head}\n\nMatcher error: ${what}${values.length ? `\n\n${values.map(([name, value]) => withType(name, value)).join('\n')}` : ''}`);
}

/** Returns the name of a class. */
export function nameOf(type: Function): string {
  return typeof type.name === 'string' && type.name ? type.name : '<anonymous>';
}

/** Describes a class in comparison to the expected one. */
export function constructors(received: Function, expected: Function, not: boolean): string {
  const wanted = nameOf(expected);
  if (!not)
    return `Expected constructor: ${wanted}\nReceived constructor: ${nameOf(received)}\n`;
  if (received === expected)
    return `Expected constructor: not ${wanted}\n`;
  const between = Object.getPrototypeOf(received) === expected ? 'extends' : 'extends … extends';
  return `Expected constructor: not ${wanted}\nReceived constructor:     ${nameOf(received)} ${between} ${wanted}\n`;
}
