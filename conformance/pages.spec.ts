// https://playwright.dev/docs/pages
import { test, expect } from '@playwright/test';

test('several pages of a context', async ({ context, page }) => {
  const second = await context.newPage();
  await page.goto('/one');
  await second.goto('/two');
  expect(context.pages()).toEqual([page, second]);
  expect([await page.title(), await second.title()]).toEqual(['One', 'Two']);
  await second.bringToFront();
  expect(second.context()).toBe(context);
  await second.close();
  expect(second.isClosed()).toBe(true);
  expect(context.pages()).toEqual([page]);
});

test('context tells of new pages', async ({ context, page }) => {
  const opened = context.waitForEvent('page');
  await page.evaluate(() => { window.open('about:blank'); });
  const popup = await opened;
  expect(popup.url()).toBe('about:blank');
  expect(await popup.opener()).toBe(page);
});

test('popup event and its address', async ({ page, baseURL }) => {
  await page.goto('/one');
  const opened = page.waitForEvent('popup');
  await page.evaluate(() => { window.open('/popup'); });
  const popup = await opened;
  await popup.waitForLoadState();
  expect(popup.url()).toBe(baseURL + '/popup');
  expect(await popup.title()).toBe('Popup');
  await expect(popup.locator('p')).toHaveText('popup');
});

test('a link with target=_blank', async ({ page }) => {
  await page.goto('/empty');
  await page.setContent('<a target="_blank" href="/popup">open</a>');
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('link').click()]);
  await expect(popup).toHaveTitle('Popup');
  expect(await popup.evaluate('!!window.opener')).toBe(false);
});

test('noopener popups come through the context, without opener', async ({ context, page }) => {
  await page.goto('/empty');
  const [popup] = await Promise.all([context.waitForEvent('page'), page.evaluate(() => { window.open('/popup', '_blank', 'noopener'); })]);
  await popup.waitForLoadState();
  expect(await popup.evaluate('window.opener')).toBe(null);
});

test('popup with a predicate', async ({ context, page }) => {
  await page.goto('/empty');
  const waiting = context.waitForEvent('page', { predicate: async p => { await p.waitForLoadState(); return (await p.title()) === 'Two'; } });
  await page.evaluate(() => { window.open('/one'); window.open('/two'); });
  expect(await (await waiting).title()).toBe('Two');
});

test('window.close closes the popup', async ({ page }) => {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { (window as any).p = window.open('about:blank'); })]);
  const closed = popup.waitForEvent('close');
  await page.evaluate('window.p.close()');
  await closed;
  expect(popup.isClosed()).toBe(true);
});

for (const event of ['click', 'mouseup', 'mousedown']) {
  test(`a click that closes its own page resolves: ${event}`, async ({ page }) => {
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { window.open('about:blank'); })]);
    await popup.setContent(`<button on${event}="window.close()">x</button>`);
    await popup.locator('button').click();
    await expect.poll(() => popup.isClosed()).toBe(true);
  });
}

test('a key that closes its own page resolves', async ({ page }) => {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { window.open('about:blank'); })]);
  await popup.setContent('<input onkeydown="window.close()">');
  await popup.locator('input').press('Enter');
  await expect.poll(() => popup.isClosed()).toBe(true);
});

test('init scripts of the context run in popups before their own', async ({ context, page }) => {
  await context.addInitScript(() => { (window as any).early = document.documentElement === null || document.readyState; });
  await page.goto('/empty');
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { window.open('/popup'); })]);
  await popup.waitForLoadState();
  expect(await popup.evaluate('window.early')).toBeTruthy();
});

test('what was under way when a page closes is told', async ({ context }) => {
  const page = await context.newPage();
  const waiting = page.waitForSelector('#never').catch((e: Error) => e.message);
  await page.close();
  expect(await waiting).toContain('Target page, context or browser has been closed');
  await expect(page.title()).rejects.toThrow('Target page, context or browser has been closed');
});

test('waitForEvent ends when the page closes', async ({ context }) => {
  const page = await context.newPage();
  const waiting = page.waitForEvent('download').catch((e: Error) => e.message);
  await page.close();
  expect(await waiting).toContain('Target page, context or browser has been closed');
});

test('close with a reason', async ({ context }) => {
  const page = await context.newPage();
  const waiting = page.waitForSelector('#never').catch((e: Error) => e.message);
  await page.close({ reason: 'enough of it' });
  expect(await waiting).toContain('enough of it');
});

test('closing twice is fine', async ({ context }) => {
  const page = await context.newPage();
  await page.close();
  await page.close();
});

test('runBeforeUnload asks', async ({ context }) => {
  const page = await context.newPage();
  await page.goto('/one');
  await page.evaluate(() => addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'x'; }));
  await page.locator('h1').click();
  const asked = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  const closed = page.waitForEvent('close');
  await dialog.accept();
  await closed;
});

test('viewport size', async ({ page }) => {
  expect(page.viewportSize()).toEqual({ width: 1280, height: 720 });
  await page.setViewportSize({ width: 500, height: 400 });
  expect(page.viewportSize()).toEqual({ width: 500, height: 400 });
  expect(await page.evaluate('[innerWidth, innerHeight]')).toEqual([500, 400]);
});

test('contexts do not share cookies and storage', async ({ browser, page, baseURL }) => {
  await page.goto('/cookie?name=a&value=1');
  await page.evaluate(() => localStorage.setItem('k', 'v'));
  const other = await browser.newContext({ baseURL });
  const second = await other.newPage();
  await second.goto('/cookie');
  await expect(second.locator('#cookies')).toHaveText('');
  expect(await second.evaluate(() => localStorage.getItem('k'))).toBe(null);
  expect(browser.contexts()).toContain(other);
  await other.close();
  expect(browser.contexts()).not.toContain(other);
  expect(second.isClosed()).toBe(true);
});

test('browser.newPage brings a context along', async ({ browser }) => {
  const page = await browser.newPage();
  expect(page.context().pages()).toEqual([page]);
  expect(page.context().browser()).toBe(browser);
  await page.close();
});

test('browser tells its version and type', async ({ browser, browserName }) => {
  expect(browser.isConnected()).toBe(true);
  expect(browser.version()).toMatch(/^\d+\.\d+/);
  expect(browser.browserType().name()).toBe(browserName);
  expect(browserName).toBe('chromium');
});

test('a closed context refuses new pages', async ({ browser }) => {
  const context = await browser.newContext();
  const closed = new Promise(resolve => context.on('close', resolve));
  await context.close();
  await closed;
  await expect(context.newPage()).rejects.toThrow('Target page, context or browser has been closed');
});

test('page.context, page.mainFrame and identity', async ({ page, context }) => {
  expect(page.context()).toBe(context);
  expect(page.locator('p').page()).toBe(page);
  expect(page.mainFrame().page()).toBe(page);
  expect(page.constructor.name).toMatch(/^_?Page$/);
  expect(page.locator('p').constructor.name).toMatch(/^_?Locator$/);
});

test('screenshot: png, jpeg, clip, full page, element', async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 300 });
  await page.setContent('<body style="margin:0;height:900px"><div style="width:50px;height:40px;background:red"></div>');
  const size = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];
  expect(size(await page.screenshot())).toEqual([400, 300]);
  expect(size(await page.screenshot({ fullPage: true }))).toEqual([400, 900]);
  expect(size(await page.screenshot({ clip: { x: 10, y: 10, width: 30, height: 20 } }))).toEqual([30, 20]);
  expect(size(await page.locator('div').screenshot())).toEqual([50, 40]);
  const jpeg = await page.screenshot({ type: 'jpeg', quality: 50 });
  expect([jpeg[0], jpeg[1]]).toEqual([0xff, 0xd8]);
  await expect(page.screenshot({ quality: 50 })).rejects.toThrow('options.quality is unsupported for the png screenshots');
});

test('screenshot with mask, style and hidden caret', async ({ page }) => {
  await page.setContent('<p>secret</p>');
  const plain = await page.screenshot();
  const masked = await page.screenshot({ mask: [page.locator('p')], maskColor: '#00FF00', animations: 'disabled', caret: 'hide', scale: 'css' });
  expect(masked.equals(plain)).toBe(false);
  expect((await page.screenshot({ style: 'p { display: none }' })).equals(plain)).toBe(false);
  expect((await page.screenshot()).equals(plain)).toBe(true);
});

test('pdf', async ({ page }) => {
  await page.setContent('<h1>Paper</h1>');
  const pdf = await page.pdf({ format: 'A4', printBackground: true, margin: { top: '1cm' } });
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
});
