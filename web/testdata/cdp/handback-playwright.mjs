// Waits with playwright-core while a person signs in, and goes on. Arguments: the
// address of the demo site, the address to connect to.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const [base, endpoint] = process.argv.slice(2);
const browser = await chromium.connectOverCDP(endpoint);
const [context] = browser.contexts();
const [account] = context.pages();
await account.goto(`${base}/demo/account`);
const handle = await account.$('#who');
const login = await context.newPage();
await login.goto(`${base}/demo/login`);
const popup = account.waitForEvent('popup', { timeout: 60_000 });
const waiting = [login.locator('#user-name').waitFor({ timeout: 60_000 }), account.getByText('Signed in as Ada').waitFor({ timeout: 60_000 })];
console.log('ready');
await Promise.all(waiting);
assert.ok((await popup).isClosed());
assert.equal(await handle.textContent(), 'Signed in as Ada');
assert.equal(await login.locator('#user-name').textContent(), 'Demo User');
assert.equal(login.url(), `${base}/demo/welcome`);
assert.deepEqual(context.pages(), [account, login]);
assert.ok((await context.cookies(`${base}/demo/`)).some((cookie) => cookie.name === 'takeover_demo'));
await login.getByRole('button', { name: 'Sign out' }).click();
await login.waitForURL('**/demo/login');
await browser.close();
