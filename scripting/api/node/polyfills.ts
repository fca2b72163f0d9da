// Built-ins that goja lacks, as far as scripts need them. Each is a small implementation of the standard's common case.

function define(target: object, name: PropertyKey, value: unknown): void {
  if (!Object.hasOwn(target, name))
    Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
}

for (const name of ['asyncIterator', 'dispose', 'asyncDispose'])
  define(Symbol, name, Symbol(`Symbol.${name}`));

define(Object, 'groupBy', function groupBy(items: Iterable<unknown>, key: (item: unknown, i: number) => PropertyKey) {
  const groups: Record<PropertyKey, unknown[]> = Object.create(null);
  let i = 0;
  for (const item of items)
    (groups[key(item, i++)] ??= []).push(item);
  return groups;
});

define(Map, 'groupBy', function groupBy(items: Iterable<unknown>, key: (item: unknown, i: number) => unknown) {
  const groups = new Map<unknown, unknown[]>();
  let i = 0;
  for (const item of items) {
    const k = key(item, i++);
    const group = groups.get(k);
    if (group)
      group.push(item);
    else
      groups.set(k, [item]);
  }
  return groups;
});

define(Promise, 'withResolvers', function withResolvers(this: PromiseConstructor) {
  let resolve, reject;
  const promise = new this((a, b) => {
    resolve = a;
    reject = b;
  });
  return { promise, resolve, reject };
});

define(Promise, 'try', function (this: PromiseConstructor, f: (...args: unknown[]) => unknown, ...args: unknown[]) {
  return new this(resolve => resolve(f(...args)));
});

for (const name of ['toString', 'toTimeString'] as const) {
  const { [name]: short } = Date.prototype;
  const value = { [name](this: Date) { return short.call(this).replace('(UTC)', '(Coordinated Universal Time)'); } }[name];
  Object.defineProperty(Date.prototype, name, { value, writable: true, configurable: true, enumerable: false });
}

const any = Promise.any;
Promise.any = function (this: PromiseConstructor, items: Iterable<unknown>) {
  return any.call(this, items).catch((e: unknown) => {
    if (e instanceof AggregateError && e.message === '')
      Object.defineProperty(e, 'message', { value: 'All promises were rejected', writable: true, configurable: true });
    throw e;
  });
} as typeof Promise.any;

define(Array, 'fromAsync', async function fromAsync(items: any, map?: (item: unknown, i: number) => unknown) {
  const out: unknown[] = [];
  const iterator = items[Symbol.asyncIterator]?.() ?? items[Symbol.iterator]?.();
  const add = async (item: unknown) => { out.push(map ? await map(await item, out.length) : await item); };
  if (!iterator) {
    for (let i = 0; i < items.length; i++)
      await add(items[i]);
    return out;
  }
  for (;;) {
    const { done, value } = await iterator.next();
    if (done)
      return out;
    await add(value);
  }
});

define(String.prototype, 'isWellFormed', function isWellFormed(this: string) {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?:[^\uD800-\uDBFF]|^)[\uDC00-\uDFFF]/.test(String(this));
});
define(String.prototype, 'toWellFormed', function toWellFormed(this: string) {
  return Array.from(String(this), c => (c >= '\uD800' && c <= '\uDFFF' ? '\uFFFD' : c)).join('');
});

define(RegExp, 'escape', function escape(text: string) {
  return text.replace(/[\\^$.*+?()[\]{}|/\-]/g, '\\$&');
});

define(Error, 'captureStackTrace', function captureStackTrace(target: object) {
  const { stack } = new Error();
  Object.defineProperty(target, 'stack', { value: stack, writable: true, configurable: true });
});

// The garbage collector cannot be observed, so the reference is kept and no callback is ever called.
define(globalThis, 'WeakRef', class WeakRef {
  #target: object;
  constructor(target: object) { this.#target = target; }
  deref(): object { return this.#target; }
});
define(globalThis, 'FinalizationRegistry', class FinalizationRegistry {
  register(): void {}
  unregister(): boolean { return false; }
});

// Iterator helpers.
const iterator = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;
const helpers: Record<string, (this: Iterator<unknown>, f: any) => unknown> = {
  *map(f) { let i = 0; for (const x of all(this)) yield f(x, i++); },
  *filter(f) { let i = 0; for (const x of all(this)) if (f(x, i++)) yield x; },
  *take(n: number) { if (n > 0) for (const x of all(this)) { yield x; if (--n <= 0) return; } },
  *drop(n: number) { for (const x of all(this)) if (n-- <= 0) yield x; },
  *flatMap(f) { let i = 0; for (const x of all(this)) yield* f(x, i++); },
  toArray() { return [...all(this)]; },
  forEach(f) { let i = 0; for (const x of all(this)) f(x, i++); },
  some(f) { let i = 0; for (const x of all(this)) if (f(x, i++)) return true; return false; },
  every(f) { let i = 0; for (const x of all(this)) if (!f(x, i++)) return false; return true; },
  find(f) { let i = 0; for (const x of all(this)) if (f(x, i++)) return x; return undefined; },
};
for (const [name, helper] of Object.entries(helpers))
  define(iterator, name, helper);
define(iterator, 'reduce', function reduce(this: Iterator<unknown>, f: any, ...initial: unknown[]) {
  const items = [...all(this)];
  return initial.length ? items.reduce(f, initial[0]) : items.reduce(f);
});

function Iterator_(this: object | undefined): void {
  if (new.target === undefined || new.target === (Iterator_ as unknown))
    throw new TypeError('Abstract class Iterator not directly constructable');
}
Object.defineProperty(Iterator_, 'name', { value: 'Iterator', configurable: true });
Object.defineProperty(Iterator_, 'prototype', { value: iterator });
define(iterator, 'constructor', Iterator_);
define(Iterator_, 'from', function from(items: any) {
  const made = typeof items === 'string' ? items[Symbol.iterator]() : items[Symbol.iterator]?.() ?? items;
  return iterator.isPrototypeOf(made) ? made : all(made)[Symbol.iterator]();
});
define(globalThis, 'Iterator', Iterator_);

function all(i: Iterator<unknown>): Iterable<unknown> {
  const inner = Object.assign(Object.create(iterator) as object, {
    next: () => i.next() as IteratorResult<unknown>,
    return: () => i.return?.() ?? { done: true, value: undefined },
  });
  return { [Symbol.iterator]: () => inner };
}
export {};
