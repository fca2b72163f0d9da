import { type Browser, BrowserType } from './browser.ts';
import { errors, refuse } from './errors.ts';
import { expect, mergeExpects } from './expect.ts';
import { APIRequest } from './request.ts';
import { host } from './host.ts';
import { builtinFixtures } from './runner/builtin.ts';
import { defineConfig } from './runner/config.ts';
import { makeTest, mergeTests } from './runner/testtype.ts';
import { Selectors } from './engines.ts';

/** Makes `require`: it knows Playwright's modules and nothing else. */
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
  const runner = makeTest([builtinFixtures(browser, () => playwright as never)], expect);
  Object.assign(test, { test: runner, _baseTest: makeTest([], expect), default: runner, expect, defineConfig, mergeTests, mergeExpects });
  const modules: Record<string, object> = { 'playwright': playwright, 'playwright-core': playwright, '@playwright/test': test, 'playwright/test': test };
  for (const module of [playwright, test])
    Object.defineProperty(module, '__esModule', { value: true }); // for import(), which gives its default then
  return name => {
    const found = Object.hasOwn(modules, name) ? modules[name] : undefined;
    if (!found)
      throw new Error(`cannot import ${JSON.stringify(name)}: scripts may import playwright, playwright-core, playwright/test and @playwright/test only`);
    return found;
  };
}
