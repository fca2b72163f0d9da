import { host } from '../core/host.ts';

/** A position in the script. */
export interface Location { file: string; line: number; column: number }

const place = /\(?([^\s(]+):(\d+):(\d+)\)?$/;

/** Returns the script position of the running call. */
export function here(): Location | undefined {
  return firstOf(host.frames(host.trace()));
}

/** Returns the first position in a stack. */
export function firstOf(stack: string): Location | undefined {
  for (const line of stack.split('\n')) {
    const match = line.trimStart().startsWith('at ') ? place.exec(line.trimEnd()) : null;
    if (match)
      return { file: match[1]!, line: Number(match[2]), column: Number(match[3]) };
  }
  return undefined;
}

/** Formats a position for messages. */
export function show(location: Location | undefined): string {
  return location ? `${location.file}:${location.line}:${location.column}` : '<builtin>';
}

/** Creates an error whose position is a declaration, and not where the problem was noticed. */
export function errorAt(message: string, location: Location | undefined): Error {
  const error = new Error(message);
  Object.defineProperty(error, 'stack', {
    value: `Error: ${message}${location ? `\n    at ${show(location)}` : ''}`,
    writable: true, configurable: true, enumerable: false,
  });
  return error;
}
