// Drives a session with patchright-core, unmodified. Arguments: the socket's address, the
// address of a site.
import { chromium } from 'patchright-core';
import { end, step } from './steps.mjs';

const [endpoint, site] = process.argv.slice(2);
const browser = await step('connect', () => chromium.connectOverCDP(endpoint));
const [context] = browser.contexts();
const [page] = context.pages();
await step('goto', async () => (await page.goto(`${site}/`)).status(), 200);
await step('title', () => page.title(), 'start');
await step('fill', () => page.getByLabel('Name').fill('Ada').then(() => page.inputValue('#name')), 'Ada');
await step('select', () => page.selectOption('#size', 'large'), ['large']);
await step('check', () => page.check('#gift').then(() => page.isChecked('#gift')));
await step('click', () => page.click('#send').then(() => page.textContent('output')), 'sent name=Ada&size=large&gift=on');
await step('press', () => page.press('#name', 'End').then(() => page.press('#name', 'Backspace')).then(() => page.inputValue('#name')), 'Ad');
await step('double click', () => page.dblclick('#press').then(() => page.textContent('output')), 'pressed twice');
await step('hover', () => page.hover('#hover').then(() => page.textContent('output')), 'hovered');
await step('evaluate', () => page.evaluate((n) => n * 2, 21), 42);
await step('frame', async () => {
  const button = page.frameLocator('iframe').locator('#inner');
  await button.click();
  return button.textContent();
}, 'Done');
await step('dialog', async () => {
  page.once('dialog', (dialog) => dialog.accept());
  await page.click('#ask');
  return page.textContent('output');
}, 'yes');
await step('wait for a response', async () => {
  const [response] = await Promise.all([page.waitForResponse('**/data.json'), page.click('#fetch')]);
  return (await response.json()).answer;
}, 'forty-two');
await step('wait for a text', () => page.click('#late').then(() => page.locator('output', { hasText: 'late' }).waitFor()).then(() => true));
await step('screenshot', async () => (await page.screenshot()).readUInt32BE(), 0x89504e47);
await step('cookies', async () => {
  await context.addCookies([{ name: 'a', value: 'cookie', url: site }]);
  return (await context.cookies(site))[0].value;
}, 'cookie');
await step('route', async () => {
  await page.route('**/data.json', (route) => route.fulfill({ json: { answer: 'routed' } }));
  await Promise.all([page.waitForResponse('**/data.json'), page.click('#fetch')]);
  await page.locator('output', { hasText: 'routed' }).waitFor();
  await page.unroute('**/data.json');
  return true;
});
await step('download', async () => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#report')]);
  return download.suggestedFilename();
}, 'report.txt');
await step('popup', async () => {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#popup')]);
  const title = await popup.waitForURL('**/other.html*').then(() => popup.title());
  await popup.close();
  return title;
}, 'other');
await step('new page', async () => {
  const second = await context.newPage();
  await second.goto(`${site}/other.html`);
  const title = await second.title();
  await second.close();
  return title;
}, 'other');
await step('a context of its own', async () => {
  const own = await browser.newContext({ viewport: { width: 500, height: 400 } });
  const inside = await own.newPage();
  await inside.goto(`${site}/`);
  const width = await inside.evaluate(() => innerWidth);
  await own.close();
  return width;
}, 500);
await step('navigate by a link and back', async () => {
  await page.click('#other');
  await page.waitForURL('**/other.html');
  await page.goBack();
  return page.title();
}, 'start');
await step('close', () => browser.close().then(() => !browser.isConnected()));
end();
