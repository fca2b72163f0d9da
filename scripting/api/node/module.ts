import { type Browser, BrowserType } from '../objects/browser.ts';
import { errors, refuse } from '../core/errors.ts';
import { APIRequest } from '../net/request.ts';
import { host } from '../core/host.ts';
import { expecting, runner } from '../core/later.ts';
import { Selectors } from '../objects/engines.ts';

/** Creates `require`, which knows only Playwright's modules. */
export function makeRequire(browser: Browser): (name: string) => object {
  const chromium = new BrowserType(browser, 'chromium');
  browser._type = chromium;
  let known: Record<string, object> | undefined;
  const playwright: Record<string, unknown> = {
    chromium,
    firefox: new BrowserType(browser, 'firefox'),
    webkit: new BrowserType(browser, 'webkit'),
    get devices() { return known ??= JSON.parse(host.extras('devices')['devices'] as string) as Record<string, object>; },
    errors,
    selectors: new Selectors(),
    request: new APIRequest(),
    get _android() { return refuse('_android', 'sessions run Chromium on a desktop'); },
    get _electron() { return refuse('_electron', 'sessions run Chromium'); },
  };
  playwright['default'] = playwright;
  const test: Record<string, unknown> = Object.create(null, Object.getOwnPropertyDescriptors(playwright));
  let tests: Record<string, unknown> | undefined;
  const testing = (): Record<string, unknown> => {
    const { expect, mergeExpects } = expecting.get();
    const { builtinFixtures, defineConfig, makeTest, mergeTests } = runner.get();
    const main = makeTest([builtinFixtures(browser, () => playwright as never)], expect);
    return { test: main, _baseTest: makeTest([], expect), default: main, expect, defineConfig, mergeTests, mergeExpects };
  };
  for (const name of ['test', '_baseTest', 'default', 'expect', 'defineConfig', 'mergeTests', 'mergeExpects'])
    Object.defineProperty(test, name, { enumerable: true, configurable: true, get: () => name === 'expect' ? expecting.get().expect : (tests ??= testing())[name] });
  const modules: Record<string, object> = { 'playwright': playwright, 'playwright-core': playwright, '@playwright/test': test, 'playwright/test': test };
  for (const module of [playwright, test])
    Object.defineProperty(module, '__esModule', { value: true }); // so that import() returns its default
  return name => {
    const found = Object.hasOwn(modules, name) ? modules[name] : undefined;
    if (!found)
      throw new Error(host.cannotImport(name));
    return found;
  };
}
