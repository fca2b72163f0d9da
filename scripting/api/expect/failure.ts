// The text of a failed expectation on a locator or page.

import type { MatcherResult, MatcherState } from './matcher.ts';
import { Locator } from '../objects/locator.ts';
import { hint } from './print.ts';

/** The parts of the text. */
export interface Verdict {
  name: string;
  subject: unknown;
  /** Whether the expectation is met, ignoring not. */
  pass: boolean;
  /** The text between the brackets of the first line. */
  argument: string;
  /** The lines about the expected and the received value, or their difference. */
  wanted?: string;
  got?: string;
  diff?: string;
  error?: string;
  /** Milliseconds; only after a timeout. */
  timeout?: number;
  log?: string[];
  expected?: unknown;
  actual?: unknown;
  ariaSnapshot?: string;
}

/** Creates a result whose message has Playwright's layout. */
export function failure(state: MatcherState, v: Verdict): MatcherResult {
  const given: Partial<MatcherResult> = {};
  for (const key of ['expected', 'actual', 'log', 'timeout', 'ariaSnapshot'] as const) {
    if (v[key] !== undefined)
      Object.assign(given, { [key]: v[key] });
  }
  return { name: v.name, pass: v.pass, message: () => text(state, v), ...given };
}

function text(state: MatcherState, v: Verdict): string {
  const subject = v.subject instanceof Locator ? 'locator' : 'page';
  // Aligns the labels.
  const pad = !v.error && !v.diff && /^Expected:/.test(v.wanted ?? '') && /^Received:/.test(v.got ?? 'Received:') ? ' ' : '';
  const timeout = v.timeout === undefined ? [] : [`Timeout: ${pad}${v.timeout}ms`];
  const lines = [
    `${hint(v.name, subject, v.argument, { isNot: state.isNot, promise: state.promise })} failed`,
    '',
    ...v.subject instanceof Locator ? [`Locator: ${pad}${v.subject}`] : [],
    ...v.wanted ? [v.wanted] : [],
    ...v.got ? [v.got] : [],
    ...timeout,
    ...v.diff ? [v.diff] : [],
    ...v.error ? [`Error: ${v.error.trimEnd()}`] : [],
    ...v.log?.length ? ['', 'Call log:', ...v.log] : [],
    '',
  ];
  return lines.join('\n');
}
