// Crawls a site with Crawlee, unmodified, in a session. Arguments: the socket's address, the
// address of a site.
import { Configuration, PlaywrightCrawler } from '@crawlee/playwright';
import { chromium } from 'playwright';
import { end, step } from './steps.mjs';

const [endpoint, site] = process.argv.slice(2);
const connect = () => chromium.connectOverCDP(endpoint);
const launcher = Object.assign(Object.create(chromium), { launch: connect, launchPersistentContext: async () => (await connect()).contexts()[0] });
const crawler = new PlaywrightCrawler({
  launchContext: { launcher },
  maxConcurrency: 1,
  maxRequestRetries: 0,
  async requestHandler({ page, request, enqueueLinks, pushData, response }) {
    await step('status', () => response.status(), 200);
    await step('title', () => page.title(), request.url.includes('other') ? 'other' : 'start');
    if (request.url.includes('other')) {
      await pushData({ title: await page.title() });
      return;
    }
    const output = () => page.textContent('output');
    await step('fill', () => page.fill('#name', 'Ada').then(() => page.inputValue('#name')), 'Ada');
    await step('select', () => page.selectOption('#size', 'large'), ['large']);
    await step('check', () => page.check('#gift').then(() => page.isChecked('#gift')));
    await step('click', () => page.click('#send').then(output), 'sent name=Ada&size=large&gift=on');
    await step('press', () => page.press('#name', 'Enter').then(output), /^sent/);
    await step('hover', () => page.hover('#hover').then(output), 'hovered');
    await step('evaluate', () => page.evaluate((n) => n * 2, 21), 42);
    await step('frame', () => page.frameLocator('iframe').locator('#inner').textContent(), 'Inner');
    await step('wait for a response', async () => {
      const [answer] = await Promise.all([page.waitForResponse('**/data.json'), page.click('#fetch')]);
      return (await answer.json()).answer;
    }, 'forty-two');
    await step('screenshot', async () => (await page.screenshot()).readUInt32BE(), 0x89504e47);
    await step('cookies', async () => {
      await page.context().addCookies([{ name: 'a', value: 'cookie', url: site }]);
      return (await page.context().cookies(site))[0].value;
    }, 'cookie');
    await step('local storage', () => page.evaluate(() => { localStorage.a = 'stored'; return localStorage.a; }), 'stored');
    await step('new links', async () => (await enqueueLinks({ selector: 'a[href*="other"]' })).processedRequests.length, 2);
    await pushData({ title: await page.title() });
  },
}, new Configuration({ persistStorage: false, logLevel: 'OFF' }));
await step('crawl', async () => (await crawler.run([`${site}/`])).requestsFinished, 3);
await step('data', async () => (await crawler.getData()).items.map(({ title }) => title).sort(), ['other', 'other', 'start']);
end();
