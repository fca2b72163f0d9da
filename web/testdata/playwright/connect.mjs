// Connects by Playwright's own protocol. Arguments: the address to connect to, the
// address of a page, and what User-Agent the client sends, if not its own.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const [endpoint, url, userAgent] = process.argv.slice(2);
const headers = userAgent ? { 'User-Agent': userAgent } : {};
try {
  const browser = await chromium.connect(endpoint, { headers });
  const page = browser.contexts()[0].pages()[0];
  await page.goto(url);
  await page.getByRole('button', { name: 'Press' }).click();
  assert.equal(await page.locator('output').textContent(), 'clicked');
  await browser.close();
  console.log('done');
} catch (error) {
  console.log(error.message);
}
