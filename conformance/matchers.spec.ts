// https://playwright.dev/docs/api/class-genericassertions
import { test, expect } from '@playwright/test';

// Returns the message of the error that a function throws, without colours.
function said(run: () => unknown) {
  try { run(); } catch (e) { return (e as Error).message.replace(/\x1b\[\d+m/g, ''); }
  throw new Error('nothing was thrown');
}

test('toBe', async () => {
  expect(1).toBe(1);
  expect(NaN).toBe(NaN);
  expect(0).not.toBe(-0);
  const o = {};
  expect(o).toBe(o);
  expect({}).not.toBe({});
  expect(said(() => expect(1).toBe(2))).toBe('expect(received).toBe(expected) // Object.is equality\n\nExpected: 2\nReceived: 1');
});

test('toEqual ignores undefined and types, goes deep', async () => {
  expect({ a: 1, b: undefined }).toEqual({ a: 1 });
  expect([1, [2, { c: 3 }]]).toEqual([1, [2, { c: 3 }]]);
  expect(new Map([['a', { b: 1 }]])).toEqual(new Map([['a', { b: 1 }]]));
  expect(new Set([1, 2])).toEqual(new Set([2, 1]));
  expect(new Date(5)).toEqual(new Date(5));
  expect(/a/g).toEqual(/a/g);
  expect({ a: 1 }).not.toEqual({ a: 2 });
  class P { constructor(public x: number) {} }
  expect(new P(1)).toEqual({ x: 1 });
});

test('toStrictEqual does not', async () => {
  expect({ a: 1, b: undefined }).not.toStrictEqual({ a: 1 });
  class P { constructor(public x: number) {} }
  expect(new P(1)).not.toStrictEqual({ x: 1 });
  expect([undefined]).not.toStrictEqual([,]);
  expect({ a: [1] }).toStrictEqual({ a: [1] });
});

test('toMatchObject', async () => {
  expect({ a: 1, b: { c: 2, d: 3 } }).toMatchObject({ b: { c: 2 } });
  expect([{ a: 1, x: 1 }, { b: 2 }]).toMatchObject([{ a: 1 }, { b: 2 }]);
  expect({ a: 1 }).not.toMatchObject({ a: 2 });
});

test('truth', async () => {
  expect(1).toBeTruthy();
  expect('').toBeFalsy();
  expect(null).toBeNull();
  expect(undefined).toBeUndefined();
  expect(0).toBeDefined();
  expect(NaN).toBeNaN();
  expect(said(() => expect(0).toBeTruthy())).toBe('expect(received).toBeTruthy()\n\nReceived: 0');
});

test('numbers', async () => {
  expect(2).toBeGreaterThan(1);
  expect(2).toBeGreaterThanOrEqual(2);
  expect(1n).toBeLessThan(2n);
  expect(1).toBeLessThanOrEqual(1);
  expect(0.1 + 0.2).toBeCloseTo(0.3);
  expect(1.23).toBeCloseTo(1.2, 1);
  expect(1.23).not.toBeCloseTo(1.2, 2);
});

test('toContain and toContainEqual', async () => {
  expect([1, 2]).toContain(2);
  expect('hello').toContain('ell');
  expect(new Set(['a'])).toContain('a');
  expect([{ a: 1 }]).toContainEqual({ a: 1 });
  expect([{ a: 1 }]).not.toContain({ a: 1 });
});

test('toHaveLength and toHaveProperty', async () => {
  expect('abc').toHaveLength(3);
  expect([1]).toHaveLength(1);
  const o = { a: { b: [1, 2] }, 'x.y': 5 };
  expect(o).toHaveProperty('a.b');
  expect(o).toHaveProperty('a.b[1]', 2);
  expect(o).toHaveProperty(['x.y'], 5);
  expect(o).not.toHaveProperty('a.c');
});

test('toMatch', async () => {
  expect('hello').toMatch(/l+/);
  expect('hello').toMatch('ell');
  expect('hello').not.toMatch(/z/);
});

test('toThrow', async () => {
  const fail = () => { throw new TypeError('bad thing'); };
  expect(fail).toThrow();
  expect(fail).toThrow('bad');
  expect(fail).toThrow(/thing$/);
  expect(fail).toThrow(TypeError);
  expect(fail).toThrow(new Error('bad thing'));
  expect(fail).toThrowError('bad thing');
  expect(() => 1).not.toThrow();
  expect(said(() => expect(() => 1).toThrow('x'))).toContain('Received function did not throw');
});

test('toBeInstanceOf', async () => {
  class A {} class B extends A {}
  expect(new B()).toBeInstanceOf(A);
  expect([]).toBeInstanceOf(Array);
  expect({}).not.toBeInstanceOf(A);
});

test('asymmetric matchers', async () => {
  expect({ a: 1, b: 'text', c: [1, 2, 3], d: { e: 1, f: 2 } }).toEqual({
    a: expect.any(Number), b: expect.stringContaining('ex'), c: expect.arrayContaining([3, 1]), d: expect.objectContaining({ e: 1 }),
  });
  expect('text').toEqual(expect.stringMatching(/^t/));
  expect(5).toEqual(expect.anything());
  expect(null).not.toEqual(expect.anything());
  expect(0.30000000000000004).toEqual(expect.closeTo(0.3));
  expect({ a: 'x' }).toEqual({ a: expect.not.stringContaining('z') });
  expect([1, 2]).toEqual(expect.not.arrayContaining([3]));
  expect({ a: 1 }).toEqual(expect.not.objectContaining({ b: 1 }));
  expect(['a', 'b']).toEqual(expect.arrayOf(expect.any(String)));
});

test('differences are shown', async () => {
  const message = said(() => expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] }));
  expect(message).toContain('expect(received).toEqual(expected) // deep equality');
  expect(message).toContain('- Expected  - 1');
  expect(message).toContain('+ Received  + 1');
  expect(message).toContain('-     3,');
  expect(message).toContain('+     2,');
});

test('not says so', async () => {
  expect(said(() => expect(1).not.toBe(1))).toBe('expect(received).not.toBe(expected) // Object.is equality\n\nExpected: not 1');
  expect(said(() => expect([1]).not.toEqual([1]))).toContain('expect(received).not.toEqual(expected)');
  expect(said(() => expect('a').not.toContain('a'))).toContain('expect(received).not.toContain(expected)');
});

test('errors are AssertionErrors with a matcher result', async () => {
  const error: any = (() => { try { expect(1).toBe(2); } catch (e) { return e; } })();
  expect(error).toBeInstanceOf(Error);
  expect(error.matcherResult).toMatchObject({ name: 'toBe', pass: false, actual: 1, expected: 2 });
});
