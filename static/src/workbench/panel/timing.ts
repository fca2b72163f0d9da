import type { CapturedEvent } from './rows.js';

/** The times at which requests began, waited and ended, for the waterfall and the details. */

/** A span of time in Unix ms. */
export interface Span { start: number; end: number }

/** Requests close to each other in time, which share one scale in the waterfall. */
export interface Burst extends Span {}

/** This long (ms) without a request ends a burst. */
const QUIET = 2_000;

/** Returns the burst of a request, which is that of the previous one. Each document, and each request after a pause, begins a new one. */
export function burstOf(last: Burst | undefined, request: CapturedEvent): Burst {
  const document = request.data?.resource_type === 'document' && !request.data.redirected_from;
  if (!last || document || request.ts > last.end + QUIET) return { start: request.ts, end: request.ts };
  last.end = Math.max(last.end, request.ts);
  return last;
}

/** The phases of a request by the server's names, with their labels. */
export const PHASES: readonly (readonly [string, string])[] = [
  ['blocked_ms', 'Queued'], ['dns_ms', 'Looking up the name'], ['connect_ms', 'Connecting'], ['ssl_ms', 'of which TLS'],
  ['send_ms', 'Sending'], ['wait_ms', 'Waiting for the response'], ['receive_ms', 'Receiving'],
];

/** Returns the phases that took place, in ms, or null when they are unknown. */
export function phasesOf(answer: CapturedEvent | undefined): { name: string; words: string; ms: number }[] | null {
  const timing = answer?.data?.timing as Record<string, number> | undefined;
  if (!timing || !(Number(timing.send_ms) >= 0)) return null;
  return PHASES.map(([name, words]) => ({ name, words, ms: Number(timing[name]) })).filter(({ ms }) => ms >= 0);
}

/** Returns when a request began and ended. */
export function spanOf(request: CapturedEvent, answer: CapturedEvent): Span {
  const total = Number((answer.data?.timing as Record<string, number> | undefined)?.total_ms);
  return { start: request.ts, end: total >= 0 ? request.ts + total : Math.max(request.ts, answer.ts) };
}

/** Returns the part of a request's time before the first byte, from 0 to 1. */
export function waited(answer: CapturedEvent | undefined): number {
  const phases = phasesOf(answer)?.filter(({ name }) => name !== 'ssl_ms');
  const all = phases?.reduce((sum, { ms }) => sum + ms, 0) ?? 0;
  if (!phases || all === 0) return 1;
  return 1 - (phases.find(({ name }) => name === 'receive_ms')?.ms ?? 0) / all;
}

/** Returns the position of a bar in its burst, in percent. */
export function barOf(span: Span, burst: Burst): { left: number; width: number } {
  const all = Math.max(1, burst.end - burst.start);
  const left = Math.min(96, Math.max(0, ((span.start - burst.start) / all) * 100));
  return { left, width: Math.max(4, Math.min(100 - left, ((span.end - span.start) / all) * 100)) };
}
