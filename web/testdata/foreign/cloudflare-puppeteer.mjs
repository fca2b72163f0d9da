// Drives a session with @cloudflare/puppeteer, unmodified. Arguments: the socket's address,
// the address of a site.
import puppeteer from '@cloudflare/puppeteer';
import { end, step } from './steps.mjs';

const [endpoint, site, bare] = process.argv.slice(2);
const browser = await step('connect', () => puppeteer.connect({ browserWSEndpoint: endpoint, defaultViewport: null }));
const [page] = await browser.pages();
const output = (text) => page.waitForFunction((text) => document.querySelector('output').textContent === text, {}, text);
await step('goto', async () => (await page.goto(`${site}/`)).status(), 200);
await step('title', () => page.title(), 'start');
await step('type', () => page.type('#name', 'Ada').then(() => page.$eval('#name', (input) => input.value)), 'Ada');
await step('select', () => page.select('#size', 'large'), ['large']);
await step('click', () => page.click('#gift').then(() => page.$eval('#gift', (box) => box.checked)));
await step('send', () => page.click('#send').then(() => output('sent name=Ada&size=large&gift=on')));
await step('press', async () => {
  await page.focus('#name');
  await page.keyboard.press('Backspace');
  return page.$eval('#name', (input) => input.value);
}, /^Ada?$/);
await step('hover', () => page.hover('#hover').then(() => output('hovered')));
await step('locator', () => page.locator('#press').click().then(() => output('pressed')));
await step('evaluate', () => page.evaluate((n) => n * 2, 21), 42);
await step('frame', async () => {
  const frame = page.frames().find((one) => one.url().endsWith('frame.html'));
  await (await frame.waitForSelector('#inner')).click();
  return frame.$eval('#inner', (button) => button.textContent);
}, 'Done');
await step('dialog', async () => {
  page.once('dialog', (dialog) => dialog.accept());
  await page.click('#ask');
  return output('yes');
});
await step('wait for a response', async () => {
  const [response] = await Promise.all([page.waitForResponse((one) => one.url().endsWith('data.json')), page.click('#fetch')]);
  return (await response.json()).answer;
}, 'forty-two');
await step('wait for a change', () => page.click('#late').then(() => output('late')));
await step('screenshot', async () => Buffer.from(await page.screenshot()).readUInt32BE(), 0x89504e47);
await step('PDF', async () => Buffer.from(await page.pdf()).toString('latin1', 0, 4), '%PDF');
await step('cookies', async () => {
  await page.setCookie({ name: 'a', value: 'cookie' });
  return (await page.cookies())[0].value;
}, 'cookie');
await step('interception', async () => {
  await page.setRequestInterception(true);
  const answer = (request) => (request.url().endsWith('data.json')
    ? request.respond({ contentType: 'application/json', body: '{"answer": "intercepted"}' })
    : request.continue());
  page.on('request', answer);
  await page.click('#fetch');
  await output('intercepted');
  page.off('request', answer);
  await page.setRequestInterception(false);
  return true;
});
await step('viewport', async () => {
  await page.setViewport({ width: 900, height: 600 });
  return page.evaluate(() => innerWidth);
}, 900);
await step('popup', async () => {
  const [popup] = await Promise.all([new Promise((found) => page.once('popup', found)), page.click('#popup')]);
  await popup.waitForSelector('h1');
  const title = await popup.title();
  await popup.close();
  return title;
}, 'other');
await step('new page', async () => {
  const second = await browser.newPage();
  await second.goto(`${site}/other.html`);
  const title = await second.title();
  await second.close();
  return title;
}, 'other');
await step('a link and back', async () => {
  await Promise.all([page.waitForNavigation(), page.click('#other')]);
  await page.goBack();
  return page.title();
}, 'start');
if (!bare) {
  const cdp = await page.createCDPSession();
  await step('Cloudflare.getSessionId', async () => (await cdp.send('Cloudflare.getSessionId')).sessionId === new URL(endpoint).searchParams.get('sessionId'));
  await step('Cloudflare.getLiveView', async () => (await cdp.send('Cloudflare.getLiveView')).devtoolsFrontendUrl, /^http/);
  await step('Cloudflare.handoff and its end', async () => {
    const over = new Promise((found) => cdp.once('Cloudflare.handoffComplete', found));
    const { handoffId } = await cdp.send('Cloudflare.handoff', { instructions: 'Sign in', timeout: 60_000 });
    const { active } = await cdp.send('Cloudflare.getHandoffState', { handoffId });
    await cdp.send('Cloudflare.handoffComplete', { handoffId });
    return active && (await over).handoffId === handoffId;
  });
}
await step('disconnect', () => browser.disconnect().then(() => !browser.connected));
end();
