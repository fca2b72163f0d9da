// Records a performance trace with pictures with puppeteer-core, and reads it. Arguments:
// the socket's address, the address of a site.
import assert from 'node:assert/strict';
import puppeteer from 'puppeteer-core';

const [endpoint, site] = process.argv.slice(2);
const browser = await puppeteer.connect({ browserWSEndpoint: endpoint, defaultViewport: null });
const [page] = await browser.pages();
for (let i = 0; i < 2; i++) {
  await page.tracing.start({ screenshots: true });
  await page.goto(`${site}/`);
  await page.click('button');
  const { traceEvents } = JSON.parse(Buffer.from(await page.tracing.stop()).toString());
  const pictures = traceEvents.filter((event) => event.name === 'Screenshot');
  assert.ok(pictures.length > 0, 'pictures');
  assert.ok(pictures.every(({ args }) => Buffer.from(args.snapshot, 'base64').readUInt16BE() === 0xffd8), 'JPEG');
  assert.ok(traceEvents.some((event) => event.name === 'EventDispatch'), 'the click');
}
await browser.disconnect();
