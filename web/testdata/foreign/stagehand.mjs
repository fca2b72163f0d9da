// Drives a session with Stagehand, unmodified and without a model. Arguments: the socket's
// address, the address of a site.
import { Stagehand } from '@browserbasehq/stagehand';
import { end, step } from './steps.mjs';

const [endpoint, site] = process.argv.slice(2);
const stagehand = new Stagehand({ env: 'LOCAL', localBrowserLaunchOptions: { cdpUrl: endpoint }, verbose: 0, disablePino: true });
await step('connect', () => stagehand.init().then(() => true));
const { context } = stagehand;
const [page] = context.pages();
const output = () => page.locator('output').textContent();
await step('goto', () => page.goto(`${site}/`, { waitUntil: 'networkidle', timeoutMs: 60_000 }).then((response) => response.status()), 200);
await step('title', () => page.title(), 'start');
await step('address', () => page.url(), `${site}/`);
await step('fill', () => page.locator('#name').fill('Ada').then(() => page.locator('#name').inputValue()), 'Ada');
await step('select', () => page.locator('#size').selectOption('large').then(() => page.locator('#size').inputValue()), 'large');
await step('check', () => page.locator('#gift').click().then(() => page.locator('#gift').isChecked()));
await step('click', () => page.locator('#send').click().then(output), 'sent name=Ada&size=large&gift=on');
await step('type', () => page.locator('#name').type(' and Eve').then(() => page.locator('#name').inputValue()), /Eve/);
await step('press', () => page.keyPress('Enter').then(output), /^sent name=.*Eve/);
await step('hover', () => page.locator('#hover').hover().then(output), 'hovered');
await step('count', () => page.locator('button').count(), /^[6-9]$/);
await step('visible', () => page.locator('#press').isVisible());
await step('evaluate', () => page.evaluate((n) => n * 2, 21), 42);
await step('frame', async () => {
  const inner = page.frameLocator('iframe').locator('#inner');
  await inner.click();
  return inner.textContent();
}, 'Done');
await step('wait for a selector', () => page.waitForSelector('#late').then(() => true));
await step('fetch', async () => {
  await page.locator('#fetch').click();
  while (await output() !== 'forty-two'); // Chromium tells networkIdle once for each document
  return output();
}, 'forty-two');
await step('snapshot', async () => (await page.snapshot()).formattedTree, /Shop/);
await step('screenshot', async () => (await page.screenshot()).readUInt32BE(), 0x89504e47);
await step('viewport', () => page.setViewportSize(900, 600).then(() => page.evaluate(() => innerWidth)), 900);
await step('cookies', async () => {
  await context.addCookies([{ name: 'a', value: 'cookie', url: site }]);
  return (await context.cookies(site))[0].value;
}, 'cookie');
await step('reload', () => page.reload().then(() => page.title()), 'start');
await step('new page', async () => {
  const second = await context.newPage(`${site}/other.html`);
  await second.waitForLoadState('load');
  const title = await second.title();
  await second.close();
  return title;
}, 'other');
await step('a link and back', async () => {
  await page.locator('#other').click();
  await page.waitForSelector('h1');
  await page.goBack();
  return page.title();
}, 'start');
await step('close', () => stagehand.close().then(() => true));
end();
