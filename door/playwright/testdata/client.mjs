// Drives a session with playwright-core, unmodified, by Playwright's own protocol.
// Arguments: the address to connect to, the address of a site, a folder for files.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [endpoint, site, folder] = process.argv.slice(2);
const browser = await chromium.connect(endpoint);
assert.equal(browser.contexts().length, 1);
const context = browser.contexts()[0];
assert.equal(context.pages().length, 1, 'the page that is there, and none of the server');
const page = context.pages()[0];

await context.tracing.start({ screenshots: true, snapshots: true });
await page.goto(`${site}/`);
await page.getByRole('button', { name: 'Press' }).click();
assert.equal(await page.locator('output').textContent(), 'clicked');
await page.getByLabel('Name').fill('Ada');
await page.keyboard.press('End');
await page.keyboard.type(' L.');
assert.equal(await page.getByLabel('Name').inputValue(), 'Ada L.');
await context.tracing.stop({ path: join(folder, 'trace.zip') });
assert.equal((await readFile(join(folder, 'trace.zip'))).subarray(0, 2).toString(), 'PK');

const [popup] = await Promise.all([page.waitForEvent('popup'), page.locator('#popup').click()]);
await popup.waitForLoadState();
assert.equal(await popup.title(), 'other');
assert.equal(context.pages().length, 2);
await popup.close();

const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
assert.equal(download.suggestedFilename(), 'report.txt');
await download.saveAs(join(folder, 'report.txt'));
assert.equal(await readFile(join(folder, 'report.txt'), 'utf8'), 'the report\n');

await page.locator('input[type=file]').setInputFiles({ name: 'in.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
assert.equal(await page.title(), 'in.txt');

await page.route('**/routed', route => route.fulfill({ contentType: 'text/html', body: '<title>routed</title>' }));
await page.goto(`${site}/routed`);
assert.equal(await page.title(), 'routed');
await page.unrouteAll();
await page.goto(`${site}/`);

const picture = await page.screenshot();
assert.equal(picture.subarray(1, 4).toString(), 'PNG');

page.once('dialog', dialog => dialog.accept('yes'));
assert.equal(await page.evaluate(() => prompt('really?')), 'yes');

const response = await page.request.get(`${site}/other`);
assert.match(await response.text(), /other/);

const other = await browser.newContext({ viewport: { width: 500, height: 400 }, recordHar: { path: join(folder, 'requests.har') } });
const second = await other.newPage();
await second.goto(`${site}/`);
assert.equal(await second.evaluate(() => innerWidth), 500);
await other.close();
assert.equal(JSON.parse(await readFile(join(folder, 'requests.har'), 'utf8')).log.entries[0].request.url, `${site}/`);

await assert.rejects(page.goto('file:///etc/passwd'), /cannot be opened here/);
await browser.close();
console.log('done');
