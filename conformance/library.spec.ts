// https://playwright.dev/docs/library, /docs/api/class-playwright, /docs/extensibility
import { test, expect, chromium, request as apiRequest, selectors, devices } from '@playwright/test';

test('connect is there for other browsers, launch for this one', async () => {
  expect(chromium.name()).toBe('chromium');
  expect(typeof chromium.launch).toBe('function');
  expect(typeof chromium.connectOverCDP).toBe('function');
});

test('a context by hand', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ ...devices['iPhone 13'], defaultBrowserType: undefined, baseURL } as any);
  const page = await context.newPage();
  await page.goto('/one');
  expect(await page.evaluate('navigator.userAgent')).toContain('iPhone');
  await context.close();
});

test('several contexts at once', async ({ browser, baseURL }) => {
  const contexts = await Promise.all([1, 2, 3].map(() => browser.newContext({ baseURL })));
  const titles = await Promise.all(contexts.map(async (c, i) => {
    const page = await c.newPage();
    await page.goto(i % 2 ? '/one' : '/two');
    return page.title();
  }));
  expect(titles).toEqual(['Two', 'One', 'Two']);
  await Promise.all(contexts.map(c => c.close()));
});

test('request of the library', async ({ baseURL }) => {
  const api = await apiRequest.newContext({ baseURL });
  expect((await api.get('/one')).ok()).toBe(true);
  await api.dispose();
});

test('selectors.register', async ({ browser }) => {
  await selectors.register('tagname', () => ({
    query: (root: Element, selector: string) => root.querySelector(selector),
    queryAll: (root: Element, selector: string) => Array.from(root.querySelectorAll(selector)),
  }));
  const page = await browser.newPage();
  await page.setContent('<div><p>x</p></div>');
  expect(await page.locator('tagname=p').textContent()).toBe('x');
  await page.close();
});

test.describe('testIdAttribute', () => {
  test.use({ testIdAttribute: 'data-pw' });

  test('changes getByTestId', async ({ page }) => {
    await page.setContent('<p data-pw="a">pw</p><p data-testid="a">id</p>');
    await expect(page.getByTestId('a')).toHaveText('pw');
  });
});

test('errors have classes', async ({ page, playwright }) => {
  const error = await page.locator('p').click({ timeout: 60 }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(playwright.errors.TimeoutError);
  expect(error).toBeInstanceOf(Error);
});

test('addLocatorHandler closes what is in the way', async ({ page }) => {
  await page.setContent(`<button id="go" onclick="document.title = 'clicked'">Go</button><div id="veil" style="position:fixed;inset:0;background:#fff"><button onclick="this.parentElement.remove()">Close</button></div>`);
  let times = 0;
  await page.addLocatorHandler(page.locator('#veil'), async () => { times++; await page.getByRole('button', { name: 'Close' }).click(); });
  await page.locator('#go').click();
  await expect(page).toHaveTitle('clicked');
  expect(times).toBe(1);
});

test('addLocatorHandler: times, noWaitAfter, removal', async ({ page }) => {
  await page.setContent(`<button onclick="document.title += 'x'">Go</button><p>banner</p>`);
  let called = 0;
  await page.addLocatorHandler(page.locator('p'), async locator => { called++; expect(String(locator)).toBe(`locator('p')`); }, { times: 1, noWaitAfter: true });
  await page.locator('button').click();
  await page.locator('button').click();
  expect([called, await page.title()]).toEqual([1, 'xx']);
  await page.addLocatorHandler(page.locator('p'), async () => { called++; }, { noWaitAfter: true });
  await page.removeLocatorHandler(page.locator('p'));
  await page.locator('button').click();
  expect(called).toBe(1);
});

test('tracing starts and stops', async ({ browser }) => {
  const context = await browser.newContext();
  await context.tracing.start({ screenshots: false, snapshots: false });
  const page = await context.newPage();
  await page.setContent('<p>x</p>');
  await context.tracing.stop();
  await context.close();
});

test('route in a HAR is refused when the file is not there', async ({ page }) => {
  await expect(page.routeFromHAR('/no/such/file.har', { notFound: 'abort' })).rejects.toThrow();
});

test('coverage of JavaScript', async ({ page }) => {
  await page.coverage.startJSCoverage();
  await page.goto('/assets');
  const entries = await page.coverage.stopJSCoverage();
  expect(entries.map(e => new URL(e.url).pathname)).toContain('/script.js');
});

test('coverage of JavaScript tells functions, ranges and sources', async ({ page }) => {
  expect(await page.coverage.stopJSCoverage()).toEqual([]);
  await page.coverage.startJSCoverage();
  await expect(page.coverage.startJSCoverage()).rejects.toThrow('coverage.startJSCoverage: JSCoverage is already enabled');
  await page.setContent('<script>function used() { if (0) { never() } } used(); function unused() {}\n//# sourceURL=named.js</script><script>1 + 1</script>');
  await page.evaluate(() => 1 + 1);
  const [entry, ...others] = await page.coverage.stopJSCoverage();
  expect(others).toEqual([]);
  expect(entry.url).toBe('named.js');
  expect(entry.source).toContain('function used()');
  const counts = Object.fromEntries(entry.functions.map(f => [f.functionName, f.ranges.map(r => r.count)]));
  expect(counts).toMatchObject({ used: [1, 0], unused: [0] });
});

test('coverage of JavaScript begins anew with a document', async ({ page }) => {
  for (const [resetOnNavigation, names] of [[true, []], [false, ['/script.js']]] as const) {
    await page.coverage.startJSCoverage({ resetOnNavigation });
    await page.goto('/assets');
    await page.evaluate(() => { history.pushState(null, '', '/assets?again'); });
    expect(await page.evaluate(() => (window as any).scriptRan)).toBe(true);
    if (resetOnNavigation)
      await page.goto('/one');
    expect((await page.coverage.stopJSCoverage()).map(e => new URL(e.url).pathname)).toEqual(names);
  }
});

test('coverage of styles', async ({ page }) => {
  expect(await page.coverage.stopCSSCoverage()).toEqual([]);
  await page.coverage.startCSSCoverage();
  await expect(page.coverage.startCSSCoverage()).rejects.toThrow('coverage.startCSSCoverage: CSSCoverage is already enabled');
  await page.goto('/assets');
  const text = 'body { background: rgb(1, 2, 3) }';
  expect(await page.coverage.stopCSSCoverage()).toEqual([{ url: expect.stringMatching(/\/style\.css$/), text, ranges: [{ start: 0, end: text.length }] }]);
  await page.goto('/one');
  await page.coverage.startCSSCoverage();
  await page.setContent('<style>b { color: red } p { color: red } i { color: red }\n/*# sourceURL=named.css */</style><p>x</p>');
  expect(await page.locator('p').isVisible()).toBe(true);
  const [entry] = await page.coverage.stopCSSCoverage();
  expect(entry.ranges.map(r => entry.text!.slice(r.start, r.end))).toEqual(['p { color: red }']);
});

test('Playwright knows its browsers', async ({ playwright }) => {
  expect(Object.keys(playwright.devices)).toContain('Pixel 5');
  expect([playwright.firefox.name(), playwright.webkit.name()]).toEqual(['firefox', 'webkit']);
});
