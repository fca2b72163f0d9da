// Waits for one event of a page, a context or a worker.

import { type Timeouts, wait } from './call.ts';
import { type Emitter, listen } from './emitter.ts';
import { TargetClosedError } from './errors.ts';

/** Waits for one event, like the method waitForEvent: the predicate accepts the event, and the wait fails when the object closes. */
export function waitForEvent(
  on: Emitter, event: string,
  optionsOrPredicate: ((arg: any) => unknown) | { predicate?: (arg: any) => unknown; timeout?: number; signal?: AbortSignal } | undefined,
  timeouts: Timeouts, what: string,
): Promise<any> {
  const options = typeof optionsOrPredicate === 'function' ? { predicate: optionsOrPredicate } : optionsOrPredicate ?? {};
  const { predicate } = options;
  const log = what === 'page' ? [`waiting for event "${event}"`] : [];
  return wait(timeouts.action(options as { timeout?: number }), log, (resolve, reject, abandon) => {
    const stops = [listen(on, event, async arg => {
      try {
        if (!predicate || await predicate(arg))
          resolve(arg);
      } catch (e) {
        reject(e as Error);
      }
    })];
    if (event !== 'close')
      stops.push(listen(on, 'close', () => abandon(closedError(on))));
    if (event !== 'crash' && what === 'page')
      stops.push(listen(on, 'crash', () => abandon(new Error('Page crashed'))));
    return () => stops.forEach(stop => stop());
  }, event, options);
}

function closedError(on: Emitter & { _closedError?(): Error }): Error { return on._closedError?.() ?? new TargetClosedError(); }
