// Deep equality in expect's matchers, which follows Jest.

/** A value that decides by itself whether another one equals it, such as expect.any(String). */
export interface Asymmetric { asymmetricMatch(other: unknown): boolean }

/** Compares a pair of values, or returns undefined to leave that to others. */
export type Tester = (this: { equals: typeof equals }, a: any, b: any, testers: readonly Tester[]) => boolean | undefined;

type Bag = Record<PropertyKey, unknown>;

/** Returns whether a value decides by itself what equals it, such as expect.any(Number). */
export function isAsymmetric(v: unknown): v is Asymmetric {
  return typeof v === 'object' && v !== null && typeof (v as Asymmetric).asymmetricMatch === 'function';
}

const tagOf = (v: unknown): string => Object.prototype.toString.call(v);
const isObject = (v: unknown): v is object => typeof v === 'object' && v !== null;

/** Returns whether two values are deeply equal. Undefined fields equal missing fields, unless strict. */
export function equals(a: unknown, b: unknown, testers: readonly Tester[] = [], strict = false): boolean {
  return compare(a, b, [], [], testers, strict);
}

function compare(a: unknown, b: unknown, as: unknown[], bs: unknown[], testers: readonly Tester[], strict: boolean): boolean {
  if (isAsymmetric(a) || isAsymmetric(b)) {
    if (isAsymmetric(a) && isAsymmetric(b))
      return Object.is(a, b);
    return isAsymmetric(a) ? a.asymmetricMatch(b) : (b as Asymmetric).asymmetricMatch(a);
  }
  for (const tester of testers) {
    const verdict = tester.call({ equals }, a, b, testers);
    if (verdict !== undefined)
      return verdict;
  }
  if (a instanceof Error && b instanceof Error)
    return a.message === b.message;
  if (Object.is(a, b))
    return true;
  const tag = tagOf(a);
  if (tag !== tagOf(b) || typeof a !== typeof b || !isObject(a) || !isObject(b))
    return false;
  switch (tag) {
    case '[object Boolean]':
    case '[object Number]':
    case '[object String]': return Object.is(a.valueOf(), b.valueOf());
    case '[object Date]': return Number(a) === Number(b);
    case '[object RegExp]': return (a as RegExp).source === (b as RegExp).source && (a as RegExp).flags === (b as RegExp).flags;
    case '[object Promise]': return false;
    case '[object URL]': return String(a) === String(b);
  }
  // Circular values are equal if they refer to the same place.
  for (let i = as.length - 1; i >= 0; i--) {
    if (as[i] === a)
      return bs[i] === b;
    if (bs[i] === b)
      return false;
  }
  if (strict && Array.isArray(a) && a.length !== (b as unknown[]).length)
    return false;
  as.push(a);
  bs.push(b);
  const same = sameFields(a as Bag, b as Bag, strict, (x, y) => compare(x, y, as, bs, testers, strict));
  as.pop();
  bs.pop();
  return same;
}

function sameFields(a: Bag, b: Bag, strict: boolean, same: (x: unknown, y: unknown) => boolean): boolean {
  const absent = (v: unknown) => !strict && (v === undefined || isAsymmetric(v));
  const keys = new Set([...keysOf(a), ...keysOf(b)]);
  for (const key of keys) {
    if (Object.hasOwn(a, key) !== Object.hasOwn(b, key) && !absent(Object.hasOwn(a, key) ? a[key] : b[key]))
      return false;
    if (!same(a[key], b[key]))
      return false;
  }
  return true;
}

/** Returns the own fields to compare, including symbols. */
function keysOf(o: object): PropertyKey[] {
  const symbols = Object.getOwnPropertySymbols(o).filter(s => Object.getOwnPropertyDescriptor(o, s)!.enumerable);
  return [...Object.keys(o), ...symbols];
}

const isIterable = (v: unknown): boolean =>
  isObject(v) && !Array.isArray(v) && !ArrayBuffer.isView(v) && typeof (v as { [Symbol.iterator]?: unknown })[Symbol.iterator] === 'function';

/** Compares iterables other than arrays, such as Map and Set. */
export const iterableEquality: Tester = iterableWithin([]);

// Returns the comparison of iterables inside others. `seen` are the pairs that contain this one.
function iterableWithin(seen: [unknown, unknown][]): Tester {
  const self: Tester = (a, b, testers) => {
    if (!isIterable(a) || !isIterable(b))
      return undefined;
    if (a.constructor !== b.constructor)
      return false;
    const met = seen.find(([x]) => x === a);
    if (met)
      return met[1] === b;
    const others = testers.filter(t => t !== self);
    const inner = [...others, iterableWithin([...seen, [a, b]])];
    const same = (x: unknown, y: unknown) => equals(x, y, inner);
    if (a instanceof Set)
      return a.size === b.size && [...a].every(x => b.has(x) || [...b].some(y => same(x, y)));
    if (a instanceof Map) {
      return a.size === b.size && [...a].every(([k, v]) =>
        b.has(k) && same(v, b.get(k)) || [...b].some(([k2, v2]) => same(k, k2) && same(v, v2)));
    }
    const [as, bs] = [[...a], [...b]];
    return as.length === bs.length && as.every((x, i) => same(x, bs[i])) && equals({ ...a }, { ...b }, others);
  };
  return self;
}

/** Checks whether the left value has at least the fields of the right one. */
export const subsetEquality: Tester = (object, subset, testers) =>
  subsetWith(new Set())(object, subset, testers.filter(t => t !== subsetEquality));

function subsetWith(seen: Set<unknown>) {
  const hasFields = (v: unknown) => isObject(v) && !(v instanceof Error) && !Array.isArray(v) && !(v instanceof Date);
  return (object: any, subset: any, testers: readonly Tester[]): boolean | undefined => {
    if (!hasFields(subset))
      return undefined;
    return keysOf(subset).every(key => {
      const wanted = subset[key];
      if (object === null || object === undefined || !has(object, key))
        return false;
      if (seen.has(wanted))
        return equals(object[key], wanted, testers);
      if (hasFields(wanted))
        seen.add(wanted);
      const verdict = equals(object[key], wanted, [...testers, (a, b) => subsetWith(seen)(a, b, testers)]);
      seen.delete(wanted);
      return verdict;
    });
  };
}

/** Returns whether an object has a property, own or inherited. */
export function has(object: unknown, key: PropertyKey): boolean {
  return isObject(object) || typeof object === 'function' ? key in (object as object) : object !== null && object !== undefined && Object.hasOwn(Object(object), key);
}

/** Treats values of different classes as unequal. */
const typeEquality: Tester = (a, b) => {
  if (a === null || a === undefined || b === null || b === undefined || a.constructor === b.constructor)
    return undefined;
  return false;
};

/** Treats arrays with holes at different places as unequal. */
const sparseArrayEquality: Tester = (a, b, testers) => {
  if (!Array.isArray(a) || !Array.isArray(b))
    return undefined;
  const others = testers.filter(t => t !== sparseArrayEquality);
  return equals(a, b, others, true) && equals(Object.keys(a), Object.keys(b));
};

/** Compares the bytes of buffers. */
const arrayBufferEquality: Tester = (a, b) => {
  const bytes = (v: unknown) => (v instanceof ArrayBuffer ? new Uint8Array(v) : v instanceof DataView ? new Uint8Array(v.buffer, v.byteOffset, v.byteLength) : undefined);
  const [x, y] = [bytes(a), bytes(b)];
  if (!x || !y)
    return undefined;
  return x.length === y.length && x.every((byte, i) => byte === y[i]);
};

/** Compares two values as toEqual does. */
export const deepEqual = (a: unknown, b: unknown): boolean => equals(a, b, [iterableEquality]);

/** Compares two values as toStrictEqual does. */
export const strictEqual = (a: unknown, b: unknown): boolean =>
  equals(a, b, [iterableEquality, typeEquality, sparseArrayEquality, arrayBufferEquality], true);
