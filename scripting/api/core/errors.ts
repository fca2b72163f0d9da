import { host, type Trace } from './host.ts';

const { parse } = JSON;

/** An operation took longer than its timeout. */
export class TimeoutError extends Error {
  constructor(message?: string) {
    super(message);
    this.name = 'TimeoutError';
  }
}

/** The page, context or browser is gone. Its name is Error, as in Playwright. */
export class TargetClosedError extends Error {
  constructor(message?: string) { super(message || 'Target page, context or browser has been closed'); }
}

/** A signal ended the call. The signal's reason is the cause. */
export class AbortError extends Error {
  constructor(message = 'The operation was aborted', cause?: unknown) {
    super(message, { cause });
    this.name = 'AbortError';
  }
}

/** The person could not do it; reason is what they said. */
export class TakeoverFailedError extends Error {
  reason = '';
  constructor(message?: string) {
    super(message);
    this.name = 'TakeoverFailedError';
  }
}

/** Nobody finished the takeover in time. */
export class TakeoverTimeoutError extends Error {
  constructor(message?: string) {
    super(message);
    this.name = 'TakeoverTimeoutError';
  }
}

/** The takeover was cancelled. */
export class TakeoverCancelledError extends Error {
  constructor(message?: string) {
    super(message);
    this.name = 'TakeoverCancelledError';
  }
}

/** The content of `require('playwright').errors`. */
export const errors = { TimeoutError, TargetClosedError };

const classes: Record<string, new (message?: string) => Error> = {
  TimeoutError, TargetClosedError, TakeoverFailedError, TakeoverTimeoutError, TakeoverCancelledError,
};

/** Creates the error of a failed operation (wire.Failure in scripting/wire/payload.go). */
export function fromWire(json: string): Error {
  const { name, message, fields } = parse(json) as { name: string; message: string; fields?: object };
  const known = classes[name];
  const error = new (known ?? Error)(message);
  if (!known)
    error.name = name;
  return Object.assign(error, fields);
}

const dressed = new WeakSet<object>();

/**
 * Attributes an error to the API call `name`: its message begins with that name, and its stack is that of the call. An error to which this was
 * already applied stays unchanged.
 */
export function dress(error: unknown, name: string, trace: Trace): unknown {
  if (!(error instanceof Error) || dressed.has(error))
    return error;
  dressed.add(error);
  if (name && !error.name.startsWith('Takeover'))
    error.message = `${name}: ${error.message}`;
  const stack = `${error.name}: ${error.message}${host.frames(trace)}`;
  Object.defineProperty(error, 'stack', { value: stack, writable: true, configurable: true, enumerable: false });
  return error;
}

/** Throws the error of a refused member. `instead` names an alternative. */
export function refuse(member: string, instead: string): never {
  throw new Error(`${member} is not available in Takeover: ${instead}`);
}
