// Audits a page with Lighthouse, in navigation mode, with its four categories.
// Arguments: the socket's address, the address of a site.
import assert from 'node:assert/strict';
import lighthouse from 'lighthouse';
import puppeteer from 'puppeteer-core';

const [endpoint, site] = process.argv.slice(2);
const categories = ['performance', 'accessibility', 'best-practices', 'seo'];
const browser = await puppeteer.connect({ browserWSEndpoint: endpoint, defaultViewport: null });
const page = await browser.newPage();
const { lhr } = await lighthouse(`${site}/`, { logLevel: 'error', onlyCategories: categories }, undefined, page);
assert.equal(lhr.runtimeError, undefined);
assert.deepEqual(Object.keys(lhr.categories).sort(), categories.toSorted());
for (const category of categories) assert.equal(typeof lhr.categories[category].score, 'number', category);
// The speed index is computed from the trace's pictures.
assert.ok(lhr.audits['speed-index'].numericValue > 0, lhr.audits['speed-index'].errorMessage);
assert.ok(lhr.audits['screenshot-thumbnails'].details.items.length > 0);
await page.close();
await browser.disconnect();
