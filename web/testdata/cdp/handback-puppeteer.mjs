// Drives a session with puppeteer-core while a person signs in, and goes on. Arguments:
// the address of the demo site, the socket's address.
import assert from 'node:assert/strict';
import puppeteer from 'puppeteer-core';
import { personTakes, personWorks } from './turn.mjs';

const [base, endpoint] = process.argv.slice(2);
const browser = await puppeteer.connect({ browserWSEndpoint: endpoint, defaultViewport: null });
const [account] = await browser.pages();
await account.goto(`${base}/demo/account`);
const handle = await account.$('#who');
const login = await browser.newPage();
await login.goto(`${base}/demo/login`);
const cdp = await account.createCDPSession();
await personTakes();
const [said, name] = await personWorks(
  [handle.evaluate((element) => element.textContent), login.locator('#user-name').setTimeout(60_000).waitHandle()],
  async () => assert.match((await cdp.send('DOM.getDocument')).root.documentURL, /\/demo\/account$/),
);
assert.equal(said, 'Signed in as Ada');
assert.equal(await name.evaluate((element) => element.textContent), 'Demo User');
assert.equal(await handle.evaluate((element) => element.textContent), 'Signed in as Ada');
assert.equal(login.url(), `${base}/demo/welcome`);
assert.equal((await browser.pages()).length, 2);
await Promise.all([login.waitForNavigation(), login.click('button.plain')]);
assert.equal(login.url(), `${base}/demo/login`);
await browser.disconnect();
