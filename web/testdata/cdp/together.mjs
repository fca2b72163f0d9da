// Drives a session with playwright-core and puppeteer-core at the same time.
// Arguments: the socket's address, the address of a site.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';

const [endpoint, site] = process.argv.slice(2);
const rounds = 3;

async function withPlaywright() {
  const browser = await chromium.connectOverCDP(endpoint);
  const context = await browser.newContext();
  const page = await context.newPage();
  for (let i = 0; i < rounds; i++) {
    await page.goto(`${site}/?playwright=${i}`);
    await page.getByLabel('Name').fill(`playwright ${i}`);
    await page.getByRole('button', { name: 'Press' }).click();
    assert.equal(await page.locator('output').textContent(), 'clicked');
    assert.equal(await page.getByLabel('Name').inputValue(), `playwright ${i}`);
  }
  await context.close();
  await browser.close();
}

async function withPuppeteer() {
  const browser = await puppeteer.connect({ browserWSEndpoint: endpoint, defaultViewport: null });
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  for (let i = 0; i < rounds; i++) {
    await page.goto(`${site}/?puppeteer=${i}`);
    await page.type('#name', `puppeteer ${i}`);
    await page.click('button');
    assert.equal(await page.$eval('output', (o) => o.textContent), 'clicked');
    assert.equal(await page.$eval('#name', (e) => e.value), `puppeteer ${i}`);
  }
  await context.close();
  await browser.disconnect();
}

await Promise.all([withPlaywright(), withPuppeteer()]);
console.log('done');
