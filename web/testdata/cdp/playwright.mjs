// Drives a session with playwright-core, unmodified. Arguments: the address to
// connect to, the address of a site.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const [endpoint, site] = process.argv.slice(2);
const browser = await chromium.connectOverCDP(endpoint);
assert.equal(browser.contexts().length, 1);
const context = browser.contexts()[0];
assert.equal(context.pages().length, 1, 'the page that is there, and none of the server');
const page = context.pages()[0];

await page.goto(`${site}/`);
await page.getByRole('button', { name: 'Press' }).click();
assert.equal(await page.locator('output').textContent(), 'clicked');
await page.getByLabel('Name').fill('Ada');
await page.keyboard.press('End');
await page.keyboard.type(' L.');
assert.equal(await page.getByLabel('Name').inputValue(), 'Ada L.');

const [popup] = await Promise.all([page.waitForEvent('popup'), page.locator('#popup').click()]);
await popup.waitForLoadState();
assert.equal(await popup.title(), 'other');
assert.equal(context.pages().length, 2);
await popup.close();

const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
assert.equal(download.suggestedFilename(), 'report.txt');
assert.equal(await download.failure(), null);

await page.locator('input[type=file]').setInputFiles({ name: 'in.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
assert.equal(await page.title(), 'in.txt');

await page.route('**/routed', route => route.fulfill({ contentType: 'text/html', body: '<title>routed</title>' }));
await page.goto(`${site}/routed`);
assert.equal(await page.title(), 'routed');
await page.unrouteAll();

assert.equal(await page.evaluate(() => 6 * 7), 42);
const picture = await page.screenshot();
assert.equal(picture.subarray(1, 4).toString(), 'PNG');

page.once('dialog', dialog => dialog.accept('yes'));
assert.equal(await page.evaluate(() => prompt('really?')), 'yes');

const other = await browser.newContext({ viewport: { width: 500, height: 400 }, userAgent: 'mine' });
const second = await other.newPage();
await second.goto(`${site}/`);
assert.deepEqual(await second.evaluate(() => [innerWidth, navigator.userAgent]), [500, 'mine']);
await other.addCookies([{ name: 'a', value: 'b', url: site }]);
assert.equal((await other.cookies()).length, 1);
assert.equal((await context.cookies(site)).length, 0);
await other.close();

await assert.rejects(page.goto('file:///etc/passwd'), /cannot be opened here/);
await assert.rejects(page.goto('chrome://version'), /cannot be opened here/);
const session = await browser.newBrowserCDPSession();
await assert.rejects(session.send('Browser.crash'), /is not available in Takeover: it ends everybody's browser/);
await assert.rejects(session.send('No.such'), /'No.such' wasn't found/);
const { targetInfos } = await session.send('Target.getTargets', { filter: [{}] });
assert.deepEqual([...new Set(targetInfos.map(t => t.type))].sort(), ['page', 'tab']);
assert.equal(targetInfos.filter(t => t.type === 'tab').length, 1);
assert.deepEqual((await session.send('Target.getBrowserContexts')).browserContextIds, []);

await browser.close();
console.log('done');
