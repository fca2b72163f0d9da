// expect's matchers for responses.

import { inspect } from '../node/inspect.ts';
import type { MatcherResult } from './matcher.ts';
import { Response } from '../net/network.ts';
import type { PageMatcher } from './pagematchers.ts';
import { hint } from './print.ts';

/** The members that the matcher needs of any kind of response. */
interface Answered {
  ok(): boolean;
  url(): string;
  status(): number;
  statusText(): string;
  headers(): Record<string, string>;
  text(): Promise<string>;
  /** Returns the log, if the response did not come through a page. */
  _fetchLog?(): string[];
}

/** Content types whose text is shown in the error. */
const textual = /^(text\/.*?|application\/(json|(x-)?javascript|xml.*?|ecmascript|graphql|x-www-form-urlencoded)|image\/svg(\+xml)?|application\/.*?(\+json|\+xml))(;\s*charset=.*)?$/;

/** Matchers for responses, by name. They wait for the response's text, to include it in a failure. */
export const responseMatchers: Readonly<Record<string, PageMatcher>> = {
  async toBeOK(this, response: unknown): Promise<MatcherResult> {
    if (!isResponse(response)) {
      const type = typeof response === 'object' && response !== null ? `${response.constructor?.name ?? ''} ` : '';
      throw new Error(`toBeOK can be only used with APIResponse object, was called with ${type}${inspect(response)}`);
    }
    const pass = response.ok();
    const body = pass === this.isNot && textual.test(response.headers()['content-type'] ?? '') ? await response.text().catch(() => undefined) : undefined; // the page may have dropped the body
    const log = response._fetchLog?.() ?? [`→ GET ${response.url()}`, `← ${response.status()} ${response.statusText()}`];
    const head = hint('toBeOK', 'response', '', { isNot: this.isNot, promise: this.promise });
    return {
      name: 'toBeOK', pass,
      message: () => [`${head} failed`, '', '', 'Call log:', ...log, ...body === undefined ? [''] : ['', 'Response text:', body]].join('\n'),
    };
  },
};

function isResponse(value: unknown): value is Answered {
  return value instanceof Response || typeof (value as Answered | undefined)?._fetchLog === 'function';
}
