// Text about an error's causes and about the errors in an AggregateError.

import { host } from './host.ts';
import { inspect } from '../node/inspect.ts';
import { mended } from './wording.ts';

/** How many levels of causes are shown. */
const depthLimit = 8;
/** How many errors of one AggregateError are shown. */
const errorLimit = 20;

/** Returns the causes of an error as text to follow its stack, in Node's format. */
export function causesOf(e: Error, depth = 0): string {
  try {
    const inner: [string, unknown][] = [];
    if (e.cause !== undefined)
      inner.push(['cause', e.cause]);
    if (e instanceof AggregateError)
      inner.push(...[...e.errors].slice(0, errorLimit).map((x, i): [string, unknown] => [`errors ${i}`, x]));
    if (depth === depthLimit)
      return inner.length ? '\n[more causes]' : '';
    return inner.map(([label, x]) => `\n[${label}]: ${one(x, depth)}`).join('').replace(/\n/g, '\n  ');
  } catch {
    return ''; // a script may manipulate its errors
  }
}

function one(x: unknown, depth: number): string {
  if (!(x instanceof Error))
    return inspect(x);
  return `${x.name}: ${mended(x).message}${host.tidy(String(x.stack))}${causesOf(x, depth + 1)}`;
}
