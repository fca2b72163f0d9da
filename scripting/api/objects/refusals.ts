// Members of Playwright's classes that make no sense here. No class implements them: each throws an error that names an alternative. Members that
// refuse only some arguments do that themselves, with refuse().

import { refuse } from '../core/errors.ts';

const recording = 'a session is watched live and its events are recorded; take page.screenshot() for pictures';
const ownProcess = 'sessions run a Chromium that the server starts';

const asking = 'use requestTakeover() to let a person act in the page';

/** Alternatives by class and member. conformance.ts checks the names. */
export const refusals = {
  Page: {
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
    startTracing: 'use context.tracing; a CDP client may use Tracing.start',
    stopTracing: 'use context.tracing; a CDP client may use Tracing.start',
  },
} as const;

const highlighting = 'a session is watched live; mark an element with locator.evaluate()';
const aria = "use page.locator('body').ariaSnapshot()";
const overlays = 'look whether the overlay is there before the action, with locator.isVisible()';

/** Members that are not implemented yet, with alternatives. If a class has a member, the entry is ignored. */
export const later = {
  Page: {
    addLocatorHandler: overlays,
    removeLocatorHandler: overlays,
    ariaSnapshot: aria,
    ariaSnapshotJSON: aria,
    getByRef: 'use a locator',
    hideHighlight: highlighting,
  },
  Locator: {
    ariaSnapshotJSON: 'use locator.ariaSnapshot()',
    drop: 'use locator.dragTo() or locator.setInputFiles()',
    hideHighlight: highlighting,
    highlight: highlighting,
    normalize: 'write the locator as it shall be',
    visible: 'use locator.filter({ visible: true })',
    waitForFunction: 'use page.waitForFunction()',
    within: 'use locator.locator()',
  },
} as const;

/** The properties among them. All others are methods. */
const properties = new Set(['screencast', 'webmcp', 'credentials', 'debugger']);

/** Adds the refused members to the classes. */
export function installRefusals(classes: Record<string, { prototype: object }>): void {
  for (const [name, members] of [...Object.entries(later), ...Object.entries(refusals)]) {
    const { prototype } = classes[name]!;
    for (const [member, instead] of Object.entries(members as Record<string, string>)) {
      if (member in prototype)
        continue;
      const value = () => refuse(`${name[0]!.toLowerCase()}${name.slice(1)}.${member}`, instead);
      Object.defineProperty(prototype, member, {
        ...properties.has(member) ? { get: value, set(this: object, mine: unknown) { Object.defineProperty(this, member, { value: mine, writable: true, configurable: true }); } } : { value, writable: true },
        configurable: true, enumerable: false,
      });
    }
  }
}
