// Asymmetric matchers: expect.any(), expect.objectContaining() and others.

import { deepEqual, has, type Asymmetric } from './equality.ts';
import { stringify } from './print.ts';

const mark = Symbol.for('jest.asymmetricMatcher');

/** A value that decides by itself what equals it. */
class AsymmetricMatcher implements Asymmetric {
  readonly sample: unknown;
  readonly inverse: boolean;
  #name: string;
  #type: string | undefined;
  #matches: (other: any) => boolean;
  #text: () => string;

  constructor(o: { name: string; inverse?: boolean; sample?: unknown; type?: string; matches: (other: any) => boolean; text?: () => string }) {
    this.sample = o.sample;
    this.inverse = !!o.inverse;
    this.#name = o.name;
    this.#type = o.type;
    this.#matches = o.matches;
    this.#text = o.text ?? (() => `${o.name}<${stringify(o.sample)}>`);
    Object.defineProperty(this, '$$typeof', { value: mark });
  }

  asymmetricMatch(other: unknown): boolean { return this.#matches(other) !== this.inverse; }
  toString(): string { return this.#name; }
  getExpectedType(): string | undefined { return this.#type; }
  toAsymmetricMatcher(): string { return this.#text(); }
}

type Type = (new (...args: any[]) => unknown) | ((...args: any[]) => unknown);

function isOf(other: unknown, type: Type): boolean {
  switch (type as unknown) {
    case String: return typeof other === 'string' || other instanceof String;
    case Number: return typeof other === 'number' || other instanceof Number;
    case Function: return typeof other === 'function';
    case Boolean: return typeof other === 'boolean' || other instanceof Boolean;
    case BigInt: return typeof other === 'bigint';
    case Symbol: return typeof other === 'symbol';
    case Object: return typeof other === 'object';
    case Array: return Array.isArray(other);
  }
  return other instanceof type;
}

function matcher(name: string, inverse: boolean, sample: unknown, matches: (other: any) => boolean, text?: () => string, type?: string): AsymmetricMatcher {
  return new AsymmetricMatcher({ name, inverse, sample, matches, text, type });
}

const not = (inverse: boolean) => (inverse ? 'Not' : '');

// Returns the asymmetric matchers that also exist under expect.not.
const invertible = (inverse: boolean) => ({
  arrayContaining(sample: unknown[]) {
    return matcher(`Array${not(inverse)}Containing`, inverse, sample, other => {
      if (!Array.isArray(sample))
        throw new Error(`You must provide an array to ArrayContaining, not '${typeof sample}'.`);
      return sample.length === 0 || Array.isArray(other) && sample.every(x => other.some(y => deepEqual(x, y)));
    }, undefined, 'array');
  },
  arrayOf(sample: unknown) {
    const name = inverse ? 'NotArrayOf' : 'ArrayOf';
    return matcher(name, inverse, sample, other => Array.isArray(other) && other.every(x => deepEqual(sample, x)), () => `${name} ${stringify(sample)}`, 'array');
  },
  objectContaining(sample: Record<string, unknown>) {
    return matcher(`Object${not(inverse)}Containing`, inverse, sample, other => {
      if (typeof sample !== 'object')
        throw new Error(`You must provide an object to ObjectContaining, not '${typeof sample}'.`);
      return Object.keys(sample).every(key => has(other, key) && deepEqual(sample[key], other[key]));
    }, undefined, 'object');
  },
  stringContaining(sample: string) {
    if (typeof sample !== 'string')
      throw new Error('Expected is not a string');
    return matcher(`String${not(inverse)}Containing`, inverse, sample, other => typeof other === 'string' && other.includes(sample), undefined, 'string');
  },
  stringMatching(sample: string | RegExp) {
    if (typeof sample !== 'string' && !(sample instanceof RegExp))
      throw new Error('Expected is not a String or a RegExp');
    const pattern = new RegExp(sample);
    return matcher(`String${not(inverse)}Matching`, inverse, pattern, other => typeof other === 'string' && new RegExp(pattern).test(other), undefined, 'string');
  },
  closeTo(sample: number, precision = 2) {
    if (typeof sample !== 'number')
      throw new Error('Expected is not a Number');
    if (typeof precision !== 'number')
      throw new Error('Precision is not a Number');
    const name = `Number${not(inverse)}CloseTo`;
    const matches = (other: unknown) => typeof other === 'number' && (other === sample || Math.abs(sample - other) < 10 ** -precision / 2);
    return matcher(name, inverse, sample, matches, () => `${name} ${sample} (${precision} ${precision === 1 ? 'digit' : 'digits'})`, 'number');
  },
});

/** The asymmetric matchers under expect. */
export const asymmetric = {
  ...invertible(false),
  any(type: Type) {
    if (type === undefined)
      throw new TypeError('any() expects to be passed a constructor function. Please pass one or use anything() to match any object.');
    return matcher('Any', false, type, other => isOf(other, type), () => `Any<${type.name || '<anonymous>'}>`, typeof type === 'function' ? type.name.toLowerCase() : undefined);
  },
  anything: () => matcher('Anything', false, undefined, other => other !== null && other !== undefined, () => 'Anything'),
};

/** The asymmetric matchers under expect.not. */
export const inverted = invertible(true);

/** Turns a custom matcher into an asymmetric one: expect.toBeOdd(). */
export function customAsymmetric(name: string, inverse: boolean, args: unknown[], pass: (other: unknown) => boolean): AsymmetricMatcher {
  const shown = `${inverse ? 'not.' : ''}${name}`;
  return matcher(shown, inverse, args, pass, () => `${shown}<${args.map(String).join(', ')}>`, 'any');
}

