// Drives a session with playwright-core while a person signs in, and goes on. Arguments:
// the address of the demo site, how to connect (connect or connectOverCDP), the address
// to connect to.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { personTakes, personWorks } from './turn.mjs';

const [base, connect, endpoint] = process.argv.slice(2);
const browser = await chromium[connect](endpoint);
const [context] = browser.contexts();
const [account] = context.pages();
await account.goto(`${base}/demo/account`);
const handle = await account.$('#who');
await handle.evaluate((element) => { element.onclick = () => element.title += `clicked: ${element.textContent}`; });
const login = await context.newPage();
await login.goto(`${base}/demo/login`);
const cdp = await context.newCDPSession(account);
const popup = account.waitForEvent('popup', { timeout: 60_000 });
await personTakes();
await personWorks(
  [
    handle.click({ timeout: 60_000 }),
    login.locator('#user-name').waitFor({ timeout: 60_000 }),
    account.getByText('Signed in as Ada').waitFor({ timeout: 60_000 }),
  ],
  async () => {
    assert.match((await cdp.send('DOM.getDocument')).root.documentURL, /\/demo\/account$/);
    assert.deepEqual(await context.cookies('http://127.0.0.2'), []);
  },
);
assert.ok((await popup).isClosed());
assert.equal(await handle.textContent(), 'Signed in as Ada');
assert.equal(await handle.getAttribute('title'), 'clicked: Signed in as Ada'); // once, and after the person
assert.equal(await login.locator('#user-name').textContent(), 'Demo User');
assert.equal(login.url(), `${base}/demo/welcome`);
assert.deepEqual(context.pages(), [account, login]);
assert.ok((await context.cookies(`${base}/demo/`)).some((cookie) => cookie.name === 'takeover_demo'));
await login.getByRole('button', { name: 'Sign out' }).click();
await login.waitForURL('**/demo/login');
await browser.close();
