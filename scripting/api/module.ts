import { type Browser, BrowserType } from './browser.ts';
import { errors, refuse } from './errors.ts';
import { expect } from './expect.ts';
import { setTestIdAttribute } from './selectors.ts';

/** Makes `require`: it knows Playwright's modules and nothing else. */
export function makeRequire(browser: Browser): (name: string) => object {
  const chromium = new BrowserType(browser, 'chromium');
  browser._type = chromium;
  const playwright: Record<string, unknown> = {
    chromium,
    firefox: new BrowserType(browser, 'firefox'),
    webkit: new BrowserType(browser, 'webkit'),
    devices: {},
    errors,
    selectors: { setTestIdAttribute, register: () => refuse('selectors.register', 'this version knows the built-in engines only') },
    get request() { return refuse('request', 'this version has no API requests'); },
    get _android() { return refuse('_android', 'sessions run Chromium on a desktop'); },
    get _electron() { return refuse('_electron', 'sessions run Chromium'); },
  };
  playwright['default'] = playwright;
  const test: Record<string, unknown> = Object.create(null, Object.getOwnPropertyDescriptors(playwright));
  test['expect'] = expect;
  test['test'] = noTests;
  test['default'] = test;
  const modules: Record<string, object> = { 'playwright': playwright, 'playwright-core': playwright, '@playwright/test': test };
  return name => {
    const found = Object.hasOwn(modules, name) ? modules[name] : undefined;
    if (!found)
      throw new Error(`cannot import ${JSON.stringify(name)}: scripts may import playwright, playwright-core and @playwright/test only`);
    return found;
  };
}

// Playwright Test files are for a later version.
const noTests = Object.assign(
  () => refuse('test', 'this version runs bare scripts and library scripts; put the body of the test at the top level'),
  Object.fromEntries(['describe', 'beforeEach', 'afterEach', 'beforeAll', 'afterAll', 'skip', 'only', 'use', 'step', 'extend', 'fixme', 'slow', 'fail', 'info']
    .map(name => [name, () => refuse(`test.${name}`, 'this version runs bare scripts and library scripts; put the body of the test at the top level')])),
);
