// Deep equality as expect's generic matchers mean it.

/** A value that says itself whether another one equals it, such as expect.any(String). */
export interface Asymmetric { asymmetricMatch(other: unknown): boolean }

function isAsymmetric(v: unknown): v is Asymmetric {
  return typeof v === 'object' && v !== null && typeof (v as Asymmetric).asymmetricMatch === 'function';
}

/** Whether two values are equal all through. strict also compares classes and undefined fields. */
export function equals(a: unknown, b: unknown, strict = false, seen: [unknown, unknown][] = []): boolean {
  if (isAsymmetric(b))
    return b.asymmetricMatch(a);
  if (isAsymmetric(a))
    return a.asymmetricMatch(b);
  if (Object.is(a, b))
    return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return false;
  if (seen.some(([x, y]) => x === a && y === b))
    return true;
  seen = [...seen, [a, b]];
  const tag = Object.prototype.toString.call(a);
  if (tag !== Object.prototype.toString.call(b) || strict && a.constructor !== b.constructor)
    return false;
  if (a instanceof Date)
    return Number(a) === Number(b);
  if (tag === '[object RegExp]')
    return String(a) === String(b);
  if (a instanceof Error)
    return a.message === (b as Error).message;
  if (a instanceof Map)
    return a.size === (b as Map<unknown, unknown>).size && [...a].every(([k, v]) => (b as Map<unknown, unknown>).has(k) && equals(v, (b as Map<unknown, unknown>).get(k), strict, seen));
  if (a instanceof Set)
    return a.size === (b as Set<unknown>).size && [...a].every(v => [...b as Set<unknown>].some(w => equals(v, w, strict, seen)));
  if (Array.isArray(a) && a.length !== (b as unknown[]).length)
    return false;
  const keysOf = (o: object) => Object.keys(o).filter(k => strict || (o as Record<string, unknown>)[k] !== undefined);
  const ka = keysOf(a), kb = keysOf(b);
  return ka.length === kb.length && ka.every(k => Object.hasOwn(b, k) && equals((a as Record<string, unknown>)[k], (b as Record<string, unknown>)[k], strict, seen));
}

/** Whether a has all that b has. */
export function contains(a: unknown, b: unknown): boolean {
  if (isAsymmetric(b) || typeof b !== 'object' || b === null)
    return equals(a, b);
  if (typeof a !== 'object' || a === null)
    return false;
  if (Array.isArray(b))
    return Array.isArray(a) && a.length === b.length && b.every((v, i) => contains(a[i], v));
  if (Object.getPrototypeOf(b) !== Object.prototype && Object.getPrototypeOf(b) !== null)
    return equals(a, b);
  return Object.keys(b).every(k => k in a && contains((a as Record<string, unknown>)[k], (b as Record<string, unknown>)[k]));
}
