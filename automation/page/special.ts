import type { Tagged } from './serialize.ts';

/** Values that cannot be sent to another place, with Playwright's names for them. */
export function special(value: unknown): Tagged | undefined {
  if (typeof value !== 'object' || value === null)
    return undefined;
  if (typeof Window === 'function' && value instanceof Window)
    return { s: 'ref: <Window>' };
  if (typeof Document === 'function' && value instanceof Document)
    return { s: 'ref: <Document>' };
  if (typeof Node === 'function' && value instanceof Node)
    return { s: 'ref: <Node>' };
  return undefined;
}
