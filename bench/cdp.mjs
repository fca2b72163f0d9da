// The two sides of the rows about the CDP endpoint: playwright-core, connected to the endpoint or to the port of a bare Chromium. The first line of
// its input is {endpoint, code}, with the code that both sides run. Each further line contains the code's args; the reply is a line with its result
// as JSON.
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

let browser, page, run;
const AsyncFunction = (async () => {}).constructor;
for await (const line of createInterface({ input: process.stdin })) {
  const args = JSON.parse(line);
  if (!browser) {
    browser = await chromium.connectOverCDP(args.endpoint);
    page = browser.contexts()[0].pages()[0];
    run = new AsyncFunction('page', 'args', args.code);
    continue;
  }
  console.log(JSON.stringify(await run(page, args)));
}
await browser?.close();
