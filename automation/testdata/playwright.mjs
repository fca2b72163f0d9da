// The reference of the benchmark: playwright-core on the same Chromium
// executable. Reads one JSON line {op, url, n} and answers with the times of n
// calls in milliseconds, one line each.
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox'] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 720 } })).newPage();
let turn = 0;
const ops = {
  evaluate: () => page.evaluate(() => 1 + 1),
  title: () => page.title(),
  textContent: () => page.locator('h1').textContent(),
  fill: () => page.getByLabel('User').fill(`user ${++turn}`),
  click: () => page.getByRole('button', { name: 'Sign in' }).click(),
  goto: url => page.goto(url),
  screenshot: () => page.screenshot(),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { op, url, n } = JSON.parse(line);
  if (op === 'open') {
    await page.goto(url);
    console.log('[]');
    continue;
  }
  const times = [];
  for (let i = 0; i < n; i++) {
    const started = performance.now();
    await ops[op](url);
    times.push(performance.now() - started);
  }
  console.log(JSON.stringify(times));
}
await browser.close();
