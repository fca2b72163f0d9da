// Asks for a person, and clicks meanwhile. Arguments: the address to connect to, the
// address of a site.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const [endpoint, site] = process.argv.slice(2);
const browser = await chromium.connect(endpoint);
const page = browser.contexts()[0].pages()[0];
await page.goto(`${site}/`);
const button = await page.$('button');
const cdp = await page.context().newCDPSession(page);
const asked = new Promise(resolve => cdp.on('Takeover.requested', resolve));
const ended = cdp.send('Takeover.request', { reason: 'Open the other page', timeout: 60_000 });
assert.match((await asked).url, /takeover/);
const clicked = page.getByRole('button', { name: 'Press' }).click();
assert.equal(await Promise.race([clicked.then(() => 'clicked'), ended.then(() => 'ended')]), 'ended', 'the click waits for the person');
assert.equal((await ended).state, 'done');
await clicked;
assert.equal(await page.locator('output').textContent(), 'clicked');
assert.equal(await button.textContent(), 'Press', 'handles stay valid');
const [tab] = page.context().pages().filter(p => p !== page);
assert.equal(await tab.title(), 'other', 'the tab that the person opened');
await browser.close();
console.log('done');
