// The fixtures of every test.

import type { Browser } from '../objects/browser.ts';
import { muted } from '../core/call.ts';
import type { BrowserContext } from '../objects/context.ts';
import { defaults } from '../objects/contextoptions.ts';
import { refuse } from '../core/errors.ts';
import { interrupt } from '../core/pending.ts';
import { setTestIdAttribute } from '../core/selectors.ts';
import { optionNames } from './config.ts';
import { declareParameters } from './parameters.ts';
import { everywhere, type FixtureList } from './pool.ts';
import { state } from './state.ts';

type Use = (value: unknown) => Promise<void>;
type Values = Record<string, unknown>;

/** The part of playwright.request that the fixture needs. */
interface Requests { newContext(): Promise<{ dispose(): Promise<void> }> }

const standard: Values = {
  acceptDownloads: true, bypassCSP: false, colorScheme: 'light', contrast: 'no-preference', forcedColors: 'none', hasTouch: false, ignoreHTTPSErrors: false,
  isMobile: false, javaScriptEnabled: true, locale: 'en-US', offline: false, reducedMotion: 'no-preference', serviceWorkers: 'allow', viewport: { width: 1280, height: 720 },
};

/** Options of a worker. The session's browser is already running, so they have no effect. */
const workerOptions: Values = {
  browserName: 'chromium', defaultBrowserType: 'chromium', headless: true, channel: undefined, launchOptions: {}, connectOptions: undefined,
  reuseContext: false, screenshot: 'off', trace: 'off', video: 'off',
};

/** Returns the fixtures of every test, on the session's browser. */
export function builtinFixtures(browser: Browser, playwright: () => { request: Requests }): FixtureList {
  const fixtures: Values = {};
  for (const [name, value] of Object.entries(workerOptions))
    fixtures[name] = [value, { option: true, scope: 'worker' }];
  for (const name of optionNames)
    fixtures[name] = [declareParameters(['contextOptions'], ofContext(name)), { option: true }];
  Object.assign(fixtures, {
    contextOptions: [{}, { option: true }],
    actionTimeout: [0, { option: true }],
    navigationTimeout: [0, { option: true }],
    testIdAttribute: ['data-testid', { option: true }],
    _contexts: [declareParameters([...optionNames, 'contextOptions', 'actionTimeout', 'navigationTimeout', 'testIdAttribute'], contexts), { auto: everywhere }],
    playwright: [({}, use: Use) => use(playwright()), { scope: 'worker' }],
    browser: [({}, use: Use) => use(browser), { scope: 'worker' }],
    context: declareParameters(['browser'], context),
    page: async ({ context: its }: { context: BrowserContext }, use: Use) => use(await muted(() => its.newPage())),
    request: declareParameters(['playwright'], request),
    mount: ({}, use: Use) => use(() => refuse('mount', 'components are not built here; open a page that shows them')),
  });
  return { fixtures, location: undefined };
}

/** Returns the fixture of an option that the file does not set. Its value is the one in contextOptions, or else the default. */
function ofContext(name: string) {
  return ({ contextOptions }: { contextOptions: Values }, use: Use) => use(contextOptions[name] === undefined ? standard[name] : contextOptions[name]);
}

/** Applies a test's options to everything that the test and its hooks create. Options under their own names take precedence over contextOptions. */
async function contexts(values: Values, use: Use): Promise<void> {
  const before = { ...defaults };
  const options = { ...values['contextOptions'] as Values };
  for (const name of optionNames) {
    if (values[name] !== undefined)
      options[name] = values[name];
  }
  setTestIdAttribute(values['testIdAttribute'] as string);
  Object.assign(defaults, {
    options,
    prepare(made: BrowserContext) {
      made.setDefaultTimeout(values['actionTimeout'] as number);
      made.setDefaultNavigationTimeout(values['navigationTimeout'] as number);
    },
  });
  await use(undefined);
  Object.assign(defaults, before);
}

async function context(values: Values, use: Use): Promise<void> {
  if (state.hookOfAll)
    throw new Error(pageInHook(state.hookOfAll));
  const made = await muted(() => (values['browser'] as Browser).newContext());
  await use(made);
  await interrupt('Test ended.').over; // end operations that were not awaited
  await muted(() => made.close());
}

async function request(values: Values, use: Use): Promise<void> {
  const { request: requests } = values['playwright'] as { request: Requests };
  const made = await muted(() => requests.newContext());
  await use(made);
  await muted(() => made.dispose());
}

const pageInHook = (hook: string): string => `"context" and "page" fixtures are not supported in "${hook}" since they are created on a per-test basis.
If you would like to reuse a single page between tests, create context manually with browser.newContext(). See https://aka.ms/playwright/reuse-page for details.
If you would like to configure your page before each test, do that in beforeEach hook instead.`;
