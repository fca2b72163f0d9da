// The reference of the script rows: playwright-core on the same Chromium executable. The first line of its input is {executable, width, height,
// code}, with the same code that Takeover runs. Each further line contains the code's args; the reply is a line with its result as JSON.
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

let browser, page, run;
const AsyncFunction = (async () => {}).constructor;
for await (const line of createInterface({ input: process.stdin })) {
  const args = JSON.parse(line);
  if (!browser) {
    browser = await chromium.launch({ executablePath: args.executable });
    page = await (await browser.newContext({ viewport: { width: args.width, height: args.height } })).newPage();
    run = new AsyncFunction('page', 'args', args.code);
    continue;
  }
  console.log(JSON.stringify(await run(page, args)));
}
await browser?.close();
