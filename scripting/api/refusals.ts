// Members of Playwright's classes that make no sense here. They are in no class:
// each throws, and says what to use instead. Members that are refused for some
// arguments only say so themselves, with refuse().

import { refuse } from './errors.ts';

const recording = 'a session is watched live and its events are recorded; take page.screenshot() for pictures';
const ownProcess = 'sessions run a Chromium that the server starts';

/** By class and member, what to use instead. conformance.ts holds the names. */
export const refusals = {
  Page: {
    screencast: recording,
    video: recording,
    pickLocator: 'use requestTakeover() to let a person act in the page',
    cancelPickLocator: 'use requestTakeover() to let a person act in the page',
    webmcp: 'use page.evaluate()',
  },
  Browser: {
    newBrowserCDPSession: 'it would reach every page; use context.newCDPSession(page)',
    bind: ownProcess,
    unbind: ownProcess,
  },
} as const;

/** Properties among them; all others are methods. */
const properties = new Set(['screencast', 'webmcp']);

/** Gives the classes the members that they refuse. */
export function installRefusals(classes: Record<string, { prototype: object }>): void {
  for (const [name, members] of Object.entries(refusals)) {
    for (const [member, instead] of Object.entries(members as Record<string, string>)) {
      const value = () => refuse(`${name[0]!.toLowerCase()}${name.slice(1)}.${member}`, instead);
      Object.defineProperty(classes[name]!.prototype, member, {
        ...properties.has(member) ? { get: value } : { value, writable: true },
        configurable: true, enumerable: false,
      });
    }
  }
}
