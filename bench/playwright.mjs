// The reference of the script rows: playwright-core on the same Chromium executable. Its first line of input is {executable,
// width, height, code}, the code that Takeover runs, too; each line after that is the code's args, and is answered with
// the JSON of what it returns.
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
