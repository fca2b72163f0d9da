// Drives a session with Taiko, unmodified. Arguments: the socket's address, the address of a
// site.
import taiko from 'taiko';
import { end, step } from './steps.mjs';

const [endpoint, site] = process.argv.slice(2);
const { hostname, port, searchParams } = new URL(endpoint);
const session = `/v1/sessions/${searchParams.get('sessionId')}`;
const key = searchParams.get('apiKey');
const alterPath = key ? (path) => (path.startsWith('/json') ? `${session}${path}?apiKey=${key}` : path) : undefined;
const output = () => taiko.evaluate(() => document.querySelector('output').textContent);
await step('connect', () => taiko.openBrowser({ host: hostname, port: Number(port), useHostName: true, alterPath }).then(() => true));
await step('goto', async () => (await taiko.goto(`${site}/`)).status.code, 200);
await step('title', () => taiko.title(), 'start');
await step('address', () => taiko.currentURL(), `${site}/`);
await step('write', () => taiko.write('Ada', taiko.into(taiko.textBox('Name'))).then(() => taiko.textBox('Name').value()), 'Ada');
await step('select', () => taiko.dropDown('Size').select('large').then(() => taiko.dropDown('Size').value()), 'large');
await step('check', () => taiko.checkBox('Gift').check().then(() => taiko.checkBox('Gift').isChecked()));
await step('click', () => taiko.click('Send').then(output), 'sent name=Ada&size=large&gift=on');
await step('clear', () => taiko.clear(taiko.textBox('Name')).then(() => taiko.textBox('Name').value()), '');
await step('focus', () => taiko.focus(taiko.textBox('Name')).then(() => true));
await step('write again', () => taiko.write('Eve').then(() => taiko.textBox('Name').value()), 'Eve');
await step('press', () => taiko.press('Enter').then(output), /^sent name=Eve/);
await step('double click', () => taiko.doubleClick('Press').then(output), 'pressed twice');
await step('hover', () => taiko.hover('Hover').then(output), 'hovered');
await step('exists', () => taiko.text('Shop').exists());
await step('attribute', () => taiko.link('Report').attribute('download'), 'report.txt');
await step('text inside a frame', () => taiko.button('Inner').exists());
await step('dialog', async () => {
  taiko.confirm('Sure?', async () => taiko.accept());
  await taiko.click('Ask');
  return output();
}, 'yes');
await step('fetch', async () => {
  await taiko.click('Fetch');
  await taiko.waitFor(async () => (await output()) === 'forty-two');
  return true;
});
await step('interception', async () => {
  await taiko.intercept(`${site}/data.json`, { body: { answer: 'intercepted' } });
  await taiko.click('Fetch');
  await taiko.waitFor(async () => (await output()) === 'intercepted');
  await taiko.clearIntercept(`${site}/data.json`);
  return true;
});
await step('screenshot', async () => Buffer.from(await taiko.screenshot({ encoding: 'base64' }), 'base64').readUInt32BE(), 0x89504e47);
await step('cookies', async () => {
  await taiko.setCookie('a', 'cookie', { url: site });
  return (await taiko.getCookies())[0].value;
}, 'cookie');
await step('viewport', () => taiko.setViewPort({ width: 900, height: 600 }).then(() => taiko.evaluate(() => innerWidth)), 900);
await step('reload', () => taiko.reload().then(() => taiko.title()), 'start');
await step('a link', () => taiko.click('Next page').then(() => taiko.title()), 'other');
await step('back', () => taiko.goBack().then(() => taiko.title()), 'start');
await step('new tab', () => taiko.openTab(`${site}/other.html`).then(() => taiko.title()), 'other');
await step('close the tab', () => taiko.closeTab().then(() => taiko.title()), 'start');
end();
