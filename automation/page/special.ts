import type { Tagged } from './serialize.ts';

/** Returns Playwright's placeholder for a value that cannot be serialised (window, document, a node), or undefined. */
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
