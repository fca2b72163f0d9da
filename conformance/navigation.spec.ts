// https://playwright.dev/docs/navigations
import { test, expect } from '@playwright/test';

test.describe('goto', () => {
  test('answers with the main response', async ({ page, baseURL }) => {
    const response = (await page.goto('/one'))!;
    expect(response.status()).toBe(200);
    expect(response.ok()).toBe(true);
    expect(response.url()).toBe(baseURL + '/one');
    expect(page.url()).toBe(baseURL + '/one');
    expect(await page.title()).toBe('One');
    expect(response.frame()).toBe(page.mainFrame());
  });

  test('does not fail on 404 and 500', async ({ page }) => {
    expect((await page.goto('/status/404'))!.status()).toBe(404);
    const response = (await page.goto('/status/500'))!;
    expect([response.status(), response.ok(), response.statusText()]).toEqual([500, false, 'Internal Server Error']);
  });

  test('gives the last response of redirects', async ({ page, baseURL }) => {
    const response = (await page.goto('/redirect?to=one&times=2'))!;
    expect(response.url()).toBe(baseURL + '/one');
    const second = response.request().redirectedFrom()!;
    const first = second.redirectedFrom()!;
    expect(first.redirectedFrom()).toBe(null);
    expect(first.redirectedTo()).toBe(second);
    expect(second.redirectedTo()).toBe(response.request());
    expect((await second.response())!.status()).toBe(302);
  });

  test('about:blank and same-document give null', async ({ page }) => {
    expect(await page.goto('about:blank')).toBe(null);
    await page.goto('/one');
    expect(await page.goto('/one#part')).toBe(null);
    expect(page.url()).toMatch(/\/one#part$/);
  });

  test('data: URL gives null or a response, and the page', async ({ page }) => {
    await page.goto('data:text/html,<title>Data</title><p>x</p>');
    await expect(page).toHaveTitle('Data');
  });

  test('refused connection', async ({ page }) => {
    await expect(page.goto('http://127.0.0.1:9/')).rejects.toThrow(/page.goto: net::ERR_(CONNECTION_REFUSED|UNSAFE_PORT) at http:\/\/127.0.0.1:9\//);
  });

  test('an address that is none', async ({ browser }) => {
    const page = await browser.newPage({ baseURL: undefined });
    await expect(page.goto('no-address')).rejects.toThrow('page.goto: Protocol error (Page.navigate): Cannot navigate to invalid URL');
    await page.close();
  });

  test('timeout', async ({ page, baseURL }) => {
    const error = await page.goto('/slow?ms=5000', { timeout: 200 }).catch((e: Error) => e) as Error;
    expect(error.name).toBe('TimeoutError');
    expect(error.message).toContain('page.goto: Timeout 200ms exceeded.');
    expect(error.message).toContain(`navigating to "${baseURL}/slow?ms=5000", waiting until "load"`);
  });

  test('waitUntil: commit and domcontentloaded are before load', async ({ page }) => {
    await page.route('**/late.png', route => setTimeout(() => void route.abort().catch(() => {}), 5000));
    await page.route('**/page?*', route => route.fulfill({ contentType: 'text/html', body: '<p>there</p><img src="/late.png">' }));
    await page.goto('/page?1', { waitUntil: 'domcontentloaded' });
    expect(await page.evaluate('document.readyState')).toBe('interactive');
    await page.goto('/page?2', { waitUntil: 'commit' });
    await expect(page.locator('p')).toHaveText('there');
  });

  test('waitUntil networkidle waits for fetches', async ({ page }) => {
    await page.route('**/page', route => route.fulfill({ contentType: 'text/html', body: `<script>fetch('/slow?ms=200').then(() => { window.fetched = true })</script>` }));
    await page.goto('/page', { waitUntil: 'networkidle' });
    expect(await page.evaluate('window.fetched')).toBe(true);
  });

  test('a navigation that is replaced by another is told', async ({ page }) => {
    const first = page.goto('/slow?ms=3000').catch((e: Error) => e.message);
    await page.waitForRequest('**/slow*');
    await page.goto('/one');
    expect(await first).toMatch(/is interrupted by another navigation|net::ERR_ABORTED/);
  });

  test('referer', async ({ page }) => {
    const response = (await page.goto('/echo', { referer: 'http://example.test/from' }))!;
    expect((await response.json()).headers.referer).toBe('http://example.test/from');
  });

  test('navigating to a download is told', async ({ page }) => {
    const download = page.waitForEvent('download');
    await expect(page.goto('/download')).rejects.toThrow('Download is starting');
    expect((await download).suggestedFilename()).toBe('report.txt');
  });

  test('a page without answer', async ({ page }) => {
    await expect(page.goto('/drop')).rejects.toThrow('net::ERR_EMPTY_RESPONSE');
  });

  test('waits for load of images and scripts', async ({ page }) => {
    await page.goto('/assets');
    expect(await page.evaluate('window.scriptRan')).toBe(true);
    await expect(page.locator('body')).toHaveCSS('background-color', 'rgb(1, 2, 3)');
    expect(await page.evaluate('document.images[0].complete')).toBe(true);
  });
});

test.describe('history', () => {
  test('goBack, goForward, reload', async ({ page, baseURL }) => {
    await page.goto('/one');
    await page.goto('/two');
    expect((await page.goBack())!.url()).toBe(baseURL + '/one');
    expect(await page.title()).toBe('One');
    await page.goForward();
    expect(page.url()).toBe(baseURL + '/two');
    await page.evaluate('window.mark = 1');
    expect((await page.reload())!.status()).toBe(200);
    expect(await page.evaluate('window.mark')).toBe(undefined);
  });

  test('nothing to go to gives null', async ({ page }) => {
    expect(await page.goForward()).toBe(null);
  });

  test('pushState changes the URL without loading', async ({ page, baseURL }) => {
    await page.goto('/one');
    await page.evaluate(() => history.pushState({}, '', '/pushed'));
    expect(page.url()).toBe(baseURL + '/pushed');
    await page.evaluate(() => history.replaceState({}, '', '/replaced'));
    expect(page.url()).toBe(baseURL + '/replaced');
    await page.goBack();
    expect(page.url()).toBe(baseURL + '/one');
  });
});

test.describe('waiting', () => {
  test('a click waits for the navigation that it began', async ({ page, baseURL }) => {
    await page.goto('/one');
    await page.getByRole('link').click();
    await page.waitForURL('**/two');
    expect(page.url()).toBe(baseURL + '/two');
    await expect(page.locator('h1')).toHaveText('Two');
  });

  test('waitForURL: glob, regexp, function, exact', async ({ page, baseURL }) => {
    await page.goto('/one');
    await page.evaluate(() => setTimeout(() => { location.href = '/two?a=1'; }, 50));
    await page.waitForURL('**/two?a=*');
    await page.waitForURL(/two/);
    await page.waitForURL(url => url.searchParams.get('a') === '1');
    await page.waitForURL(baseURL + '/two?a=1');
    await page.waitForURL('/two?a=1');
    await expect(page.waitForURL('**/three', { timeout: 200 })).rejects.toThrow('page.waitForURL: Timeout 200ms exceeded.');
  });

  test('waitForNavigation', async ({ page }) => {
    await page.goto('/one');
    const [response] = await Promise.all([page.waitForNavigation(), page.getByRole('link').click()]);
    expect(response!.url()).toContain('/two');
    const [none] = await Promise.all([page.waitForNavigation(), page.evaluate(() => { location.hash = 'x'; })]);
    expect(none).toBe(null);
  });

  test('waitForLoadState resolves at once when it has been', async ({ page }) => {
    await page.goto('/one');
    await page.waitForLoadState();
    await page.waitForLoadState('domcontentloaded');
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate('document.readyState')).toBe('complete');
  });

  test('waitForLoadState with a bad state', async ({ page }) => {
    await expect(page.waitForLoadState('bad' as any)).rejects.toThrow(/state: expected one of \(load\|domcontentloaded\|networkidle\|commit\)/);
  });

  test('waitForFunction polls until it is truthy', async ({ page }) => {
    await page.evaluate(() => setTimeout(() => { (window as any).ready = { n: 7 }; }, 80));
    const handle = await page.waitForFunction(() => (window as any).ready);
    expect(await handle.jsonValue()).toEqual({ n: 7 });
    await page.waitForFunction(n => (window as any).ready.n === n, 7, { polling: 20 });
    await expect(page.waitForFunction('false', undefined, { timeout: 150 })).rejects.toThrow('page.waitForFunction: Timeout 150ms exceeded.');
  });

  test('waitForFunction waits for a promise, and takes it for truthy', async ({ page }) => {
    await page.evaluate(() => {
      (window as any).printed = new Promise<void>(f => { window.print = f; });
      setTimeout(() => window.print(), 50);
    });
    expect(await (await page.waitForFunction('window.printed', undefined, { timeout: 3000 })).jsonValue()).toBe(undefined);
    expect(await (await page.waitForFunction(async () => false)).jsonValue()).toBe(false);
    await expect(page.waitForFunction(async () => { throw new Error('boom'); })).rejects.toThrow('boom');
  });

  test('waitForFunction survives a navigation', async ({ page }) => {
    await page.goto('/one');
    const waiting = page.waitForFunction(() => document.title === 'Two');
    await page.goto('/two');
    expect(await (await waiting).jsonValue()).toBe(true);
  });

  test('waitForFunction throws what the function throws', async ({ page }) => {
    await expect(page.waitForFunction(() => { throw new Error('boom'); })).rejects.toThrow('boom');
  });

  test('waitForSelector: states', async ({ page }) => {
    await page.setContent('<div></div>');
    await page.evaluate(() => setTimeout(() => { document.querySelector('div')!.innerHTML = '<p>x</p>'; }, 60));
    const p = await page.waitForSelector('p');
    expect(await p.textContent()).toBe('x');
    expect(await page.waitForSelector('i', { state: 'hidden' })).toBe(null);
    expect(await page.waitForSelector('i', { state: 'detached' })).toBe(null);
    await expect(page.waitForSelector('i', { timeout: 150 })).rejects.toThrow(`waiting for locator('i') to be visible`);
  });

  test('waitForTimeout', async ({ page }) => {
    const started = Date.now();
    await page.waitForTimeout(120);
    expect(Date.now() - started).toBeGreaterThanOrEqual(115);
  });

  test('default timeouts', async ({ page }) => {
    page.setDefaultTimeout(150);
    await expect(page.locator('p').click()).rejects.toThrow('Timeout 150ms exceeded');
    page.setDefaultNavigationTimeout(170);
    await expect(page.goto('/slow?ms=4000')).rejects.toThrow('page.goto: Timeout 170ms exceeded.');
  });

  test('a selector wait goes on over navigations', async ({ page }) => {
    await page.goto('/one');
    const waiting = page.locator('h1', { hasText: 'Two' }).textContent();
    await page.goto('/two');
    expect(await waiting).toBe('Two');
  });
});

test.describe('content', () => {
  test('setContent and content', async ({ page }) => {
    await page.setContent('<!doctype html><p>x</p>');
    expect(await page.content()).toBe('<!DOCTYPE html><html><head></head><body><p>x</p></body></html>');
  });

  test('setContent runs scripts and waits for load', async ({ page }) => {
    await page.goto('/empty');
    await page.setContent('<script src="/script.js"></script><img src="/pixel.png">');
    expect(await page.evaluate('[window.scriptRan, document.images[0].naturalWidth]')).toEqual([true, 1]);
  });

  test('addScriptTag and addStyleTag', async ({ page }) => {
    await page.goto('/empty');
    const script = await page.addScriptTag({ content: 'window.added = 1' });
    expect(await script.evaluate(e => e.nodeName)).toBe('SCRIPT');
    await page.addScriptTag({ url: '/script.js' });
    expect(await page.evaluate('[window.added, window.scriptRan]')).toEqual([1, true]);
    await page.addStyleTag({ content: 'body { color: rgb(9, 9, 9) }' });
    await page.addStyleTag({ url: '/style.css' });
    await expect(page.locator('body')).toHaveCSS('color', 'rgb(9, 9, 9)');
    await expect(page.locator('body')).toHaveCSS('background-color', 'rgb(1, 2, 3)');
  });

  test('addScriptTag of what is not there', async ({ page }) => {
    await page.goto('/empty');
    await expect(page.addScriptTag({ url: '/status/404' })).rejects.toThrow(/Failed to load script|Loading script/);
  });

  test('addScriptTag without anything', async ({ page }) => {
    await expect(page.addScriptTag({})).rejects.toThrow('Provide an object with a `url`, `path` or `content` property');
  });
});

test('waiting for a navigation that fails', async ({ page }) => {
  await page.goto('/one');
  for (const [end, text] of [
    ["location.href = '/status/204'", 'net::ERR_ABORTED; maybe frame was detached?'],
    ["location.href = '/download'", 'net::ERR_ABORTED; maybe frame was detached?'],
    ["location.href = '/slow?ms=5000'; setTimeout(() => window.stop(), 100)", 'net::ERR_ABORTED; maybe frame was detached?'],
    ["location.href = 'http://127.0.0.1:1/'", 'net::ERR_UNSAFE_PORT'],
  ]) {
    const waiting = Promise.allSettled([page.waitForNavigation(), page.waitForURL('**/never')]);
    await page.evaluate(code => { setTimeout(code, 0); }, end);
    const reasons = (await waiting).map(r => (r as PromiseRejectedResult).reason.message);
    expect(reasons[0]).toContain(`page.waitForNavigation: ${text}\n=========================== logs ===========================\nwaiting for navigation until "load"`);
    expect(reasons[1]).toContain(`page.waitForURL: ${text}\n=========================== logs ===========================\nwaiting for navigation to "**/never" until "load"`);
  }
});

test('waiting for a navigation that gives way to another one', async ({ page }) => {
  await page.goto('/one');
  const waiting = page.waitForNavigation();
  await page.evaluate(() => { setTimeout(() => { location.href = '/slow?ms=5000'; setTimeout(() => { location.href = '/two'; }, 100); }, 0); });
  expect((await waiting)!.url()).toMatch(/\/two$/);
});
