// Drives a session with Puppeteer, unmodified. Arguments: the socket's address, the
// address of a site.
import assert from 'node:assert/strict';
import puppeteer from 'puppeteer-core';

const [endpoint, site] = process.argv.slice(2);
const browser = await puppeteer.connect({ browserWSEndpoint: endpoint, defaultViewport: null });
const [page] = await browser.pages();
await page.goto(`${site}/`);
await page.click('button');
assert.equal(await page.$eval('output', o => o.textContent), 'clicked');
await browser.disconnect();
console.log('done');
