// Members of Playwright's classes that make no sense here. They are in no class:
// each throws, and says what to use instead. Members that are refused for some
// arguments only say so themselves, with refuse().

import { refuse } from './errors.ts';

const recording = 'a session is watched live and its events are recorded; take page.screenshot() for pictures';
const ownProcess = 'sessions run a Chromium that the server starts';

const asking = 'use requestTakeover() to let a person act in the page';

/** By class and member, what to use instead. conformance.ts holds the names. */
export const refusals = {
  Page: {
    coverage: 'use context.newCDPSession(page) with the domains Profiler and CSS',
    screencast: recording,
    video: recording,
    pickLocator: asking,
    cancelPickLocator: asking,
    webmcp: 'use page.evaluate()',
  },
  Frame: {
    webmcp: 'use frame.evaluate()',
  },
  BrowserContext: {
    credentials: 'sign in by a takeover, or give context.setStorageState() a state that is signed in',
    debugger: 'a run stands at requestTakeover(), where a person may look and act',
  },
  Browser: {
    newBrowserCDPSession: 'it would reach every page; use context.newCDPSession(page)',
    bind: ownProcess,
    unbind: ownProcess,
    startTracing: 'use context.tracing, or context.newCDPSession(page) with the domain Tracing',
    stopTracing: 'use context.tracing, or context.newCDPSession(page) with the domain Tracing',
  },
} as const;

/** Properties among them; all others are methods. */
const properties = new Set(['coverage', 'screencast', 'webmcp', 'credentials', 'debugger']);

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
