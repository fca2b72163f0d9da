import { host } from '../core/host.ts';

/** A place in the script. */
export interface Location { file: string; line: number; column: number }

const place = /\(?([^\s(]+):(\d+):(\d+)\)?$/;

/** The place in the script of the running call. */
export function here(): Location | undefined {
  return firstOf(host.frames(host.trace()));
}

/** The first place in a stack. */
export function firstOf(stack: string): Location | undefined {
  for (const line of stack.split('\n')) {
    const match = line.trimStart().startsWith('at ') ? place.exec(line.trimEnd()) : null;
    if (match)
      return { file: match[1]!, line: Number(match[2]), column: Number(match[3]) };
  }
  return undefined;
}

/** A place in the form of messages. */
export function show(location: Location | undefined): string {
  return location ? `${location.file}:${location.line}:${location.column}` : '<builtin>';
}

/** An error whose place is a declaration, not where it was noticed. */
export function errorAt(message: string, location: Location | undefined): Error {
  const error = new Error(message);
  Object.defineProperty(error, 'stack', {
    value: `Error: ${message}${location ? `\n    at ${show(location)}` : ''}`,
    writable: true, configurable: true, enumerable: false,
  });
  return error;
}
