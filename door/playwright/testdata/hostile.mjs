// Asks the process for what a client must not get, by calls that Playwright's own
// client makes on its own machine only. Arguments: the address to connect to, the address
// of a service on the server's loopback, files of the server.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const [endpoint, service, ...files] = process.argv.slice(2);
const browser = await chromium.connect(endpoint);
const objects = [...browser._connection._objects.values()];
const utils = objects.find(o => o._type === 'LocalUtils')._channel;
for (const file of files) {
  const read = await utils.harOpen({ file }, { timeout: 0 }).then(r => r.error, e => String(e));
  assert.match(read, /EACCES|ENOENT/, file);
}
const options = { timeout: 10_000 };
for (const address of [service, service.replace('127.0.0.1', '[::1]')]) {
  await assert.rejects(utils.connect({ endpoint: address.replace('http:', 'ws:'), ...options }, options), /ECONNREFUSED|ENETUNREACH|EADDRNOTAVAIL|EACCES/, `${address} by a WebSocket`);
}
for (const type of objects.filter(o => o._type === 'BrowserType')) {
  await assert.rejects(type._channel.launch({ headless: true, ...options }, options), /not allowed/i, `launch ${type.name()}`);
  await assert.rejects(type._channel.connectOverCDP({ endpointURL: service, ...options }, options), undefined, `connect ${type.name()}`);
}
const page = browser.contexts()[0].pages()[0];
for (const address of ['http://denied.test/', 'https://denied.test/', service])
  assert.equal(await page.request.get(address, options).then(r => r.status(), () => 403), 403, `${address}, which the session denies`);
await assert.rejects(browser.newContext({ proxy: { server: service } }), /is set with proxyUrl/, 'another proxy');
console.log('done');
await browser.close();
