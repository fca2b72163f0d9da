// expect(f).toThrow() and toThrowError().

import { isAsymmetric } from './equality.ts';
import { host } from '../core/host.ts';
import { constructors, hintOf, refuseValue, type MatcherResult, type MatcherState } from './matcher.ts';
import { stringify } from './print.ts';
import { mended } from '../core/wording.ts';

/** The value that a function threw, or with which a promise was rejected. */
interface Thrown { value: any; hasMessage: boolean; message: string }

function thrown(caught: any): Thrown {
  const value = mended(caught);
  const hasMessage = value !== null && value !== undefined && typeof value.message === 'string';
  return { value, hasMessage, message: hasMessage ? value.message : String(value) };
}

/** The result of a comparison with one kind of argument. */
interface Check { pass: boolean; /** The lines between the hint and where it was thrown. */ lines: string[] }

/** Creates the matcher with one of its names. */
export function throwing(name: string) {
  return function (this: MatcherState, received: any, expected?: any): MatcherResult {
    const head = hintOf(this, name, expected === undefined ? '' : 'expected');
    const got = outcome(this, head, received);
    const { pass, lines } = check(expected, got, this.isNot, head);
    const message = () => [head, '', ...lines, ...got ? ['', ...where(got)] : ['Received function did not throw']].join('\n');
    return { pass, message };
  };
}

function outcome(state: MatcherState, head: string, received: any): Thrown | undefined {
  if (state.promise && received instanceof Error)
    return thrown(received);
  if (typeof received !== 'function') {
    if (state.promise)
      return undefined;
    refuseValue(Error, head, 'received value must be a function', ['Received', received]);
  }
  try {
    received();
    return undefined;
  } catch (e) {
    return thrown(e);
  }
}

function check(expected: any, got: Thrown | undefined, not: boolean, head: string): Check {
  const no = not ? 'not ' : '';
  const pad = ' '.repeat(no.length);
  // Shows the expected value alone, followed by a blank line if nothing was thrown.
  const alone = (line: string) => (got ? [line] : [line, '']);
  const beside = (label: string, text: string) => {
    const wanted = `Expected ${label}: ${no}${text}`;
    if (!got)
      return [wanted, ''];
    const name = `Received ${got.hasMessage ? 'message' : 'value'}:`;
    return [wanted, `${name}${' '.repeat(Math.max(1, `Expected ${label}: `.length - name.length))}${pad}${stringify(got.hasMessage ? got.message : got.value)}`];
  };
  if (expected === undefined) {
    if (!got)
      return { pass: false, lines: [] };
    const lines = got.hasMessage ? [`Error name:    ${stringify(got.value.name)}`, `Error message: ${stringify(got.message)}`] : [`Thrown value: ${stringify(got.value)}`];
    return { pass: true, lines };
  }
  if (typeof expected === 'string')
    return { pass: !!got && got.message.includes(expected), lines: beside('substring', stringify(expected)) };
  if (expected instanceof RegExp)
    return { pass: !!got && new RegExp(expected).test(got.message), lines: beside('pattern', stringify(expected)) };
  if (isAsymmetric(expected)) {
    const lines = [`Expected asymmetric matcher: ${no}${stringify(expected)}`, '', ...got ? described(got) : []];
    return { pass: !!got && expected.asymmetricMatch(got.value), lines };
  }
  if (typeof expected === 'function') {
    const pass = !!got && got.value instanceof expected;
    if (!got)
      return { pass, lines: alone(`Expected constructor: ${no}${expected.name}`) };
    const type = got.value?.constructor;
    const types = typeof type === 'function' ? constructors(type, expected, not) : `Expected constructor: ${no}${expected.name}\n`;
    return { pass, lines: [...types.split('\n'), `Received ${got.hasMessage ? 'message' : 'value'}: ${stringify(got.hasMessage ? got.message : got.value)}`] };
  }
  if (expected !== null && typeof expected === 'object')
    return like(expected, got, no);
  return refuseValue(Error, head, 'expected value must be a string or regular expression or class or error', ['Expected', expected]);
}

// Checks for an error with the same message, and with the same cause if one is given.
function like(expected: any, got: Thrown | undefined, no: string): Check {
  const causes = (e: any): object | string => (e?.cause === undefined ? { message: e?.message } : { cause: typeof e.cause === 'object' ? causes(e.cause) : e.cause, message: e?.message });
  const whole = (e: any): string => JSON.stringify(causes(e));
  const pass = !!got && got.message === expected.message && (expected.cause === undefined || whole(got.value) === whole(expected));
  const label = expected.cause === undefined ? 'message' : 'message and cause';
  const text = (e: any, message: string) => stringify(expected.cause === undefined ? message : whole(e));
  const wanted = `Expected ${label}: ${no}${text(expected, expected.message)}`;
  if (!got)
    return { pass, lines: [wanted, ''] };
  if (pass)
    return { pass, lines: [wanted] };
  return { pass, lines: [wanted, got.hasMessage ? `Received ${label}: ${text(got.value, got.message)}` : `Received value:   ${stringify(got.value)}`] };
}

function described(got: Thrown): string[] {
  return got.hasMessage ? [`Received name:    ${stringify(got.value.name)}`, `Received message: ${stringify(got.message)}`] : [`Received value: ${stringify(got.value)}`];
}

// Returns the position in the script where an error was thrown.
function where({ value }: Thrown): string[] {
  const stack = value instanceof Error && typeof value.stack === 'string' ? host.tidy(value.stack) : '';
  return stack.split('\n').filter(Boolean).map(line => `  ${line}`);
}
