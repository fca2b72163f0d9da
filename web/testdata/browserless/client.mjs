// Uses a server as programs that were written for Browserless do. Arguments: the
// server's address, its key, and a site.

import assert from 'node:assert/strict';
import puppeteer from 'puppeteer-core';

const [base, key, site] = process.argv.slice(2);
const token = '?token=' + key;
const call = (path, body) => fetch(base + path + token, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

// Each connection gets a browser of its own, which ends with it.
const version = await (await fetch(base + '/json/version' + token)).json();
const browser = await puppeteer.connect({ browserWSEndpoint: version.webSocketDebuggerUrl });
const page = await browser.newPage();
await page.goto(site + '/article');
assert.equal(await page.title(), 'On quinces');
let sessions = await (await fetch(base + '/sessions' + token)).json();
assert.equal(sessions.length, 1);
assert.equal(sessions[0].running, true);
assert.equal(sessions[0].type, 'browser');
const second = await puppeteer.connect({ browserWSEndpoint: sessions[0].browserWSEndpoint });
assert.ok((await second.pages()).some(p => p.url() === site + '/article'));
await second.disconnect();
const ended = new Promise(resolve => browser.once('disconnected', resolve));
assert.equal((await fetch(sessions[0].killURL)).status, 204);
await ended;
assert.deepEqual(await (await fetch(base + '/sessions' + token)).json(), []);
assert.equal((await fetch(base + '/kill/none' + token)).status, 404);

// One page.
let answer = await call('/content', { url: site + '/article', gotoOptions: { waitUntil: ['load', 'networkidle0'] }, waitForSelector: { selector: 'h1', visible: true } });
assert.equal(answer.status, 200);
assert.match(answer.headers.get('content-type'), /^text\/html/);
assert.match(answer.headers.get('content-security-policy'), /sandbox/);
assert.match(await answer.text(), /<h1>Quinces<\/h1>/);
answer = await call('/content', { html: '<p id=x>', cookies: [{ name: 'a', value: 'b', url: site }], userAgent: 'Less/1', setExtraHTTPHeaders: { 'x-a': 'b' }, waitForTimeout: 1 });
assert.match(await answer.text(), /<p id="x">/);
answer = await call('/screenshot', { url: site + '/article', viewport: { width: 640, height: 400 }, options: { type: 'png' } });
assert.equal(answer.headers.get('content-type'), 'image/png');
const image = Buffer.from(await answer.arrayBuffer());
assert.deepEqual([image.readUInt32BE(16), image.readUInt32BE(20)], [640, 400]);
answer = await call('/screenshot', { url: site + '/article', selector: 'h1', options: { type: 'jpeg', quality: 40 } });
assert.equal(answer.headers.get('content-type'), 'image/jpeg');
answer = await call('/pdf', { url: site + '/article', options: { format: 'A4', landscape: true, margin: { top: '1cm', left: 10 } } });
assert.equal(answer.headers.get('content-type'), 'application/pdf');
assert.match(Buffer.from(await answer.arrayBuffer()).toString('latin1'), /^%PDF/);

// A function.
answer = await call('/function', { code: 'export default async ({ page, context }) => {\n  await page.goto(context.url);\n  return { data: await page.title(), type: "text/plain" };\n}', context: { url: site + '/article' } });
assert.equal(answer.status, 200, await answer.clone().text());
assert.match(answer.headers.get('content-type'), /^text\/plain/);
assert.equal(await answer.text(), 'On quinces');
answer = await fetch(base + '/function' + token, { method: 'POST', headers: { 'content-type': 'application/javascript' }, body: 'module.exports = async function named({ page }) { return { data: { n: 1 }, type: "application/json" }; };' });
assert.deepEqual(await answer.json(), { n: 1 });
answer = await call('/function', { code: 'export default async () => { throw new TypeError("no"); }' });
assert.equal(answer.status, 422);
assert.match((await answer.json()).detail, /TypeError: no/);

// What is refused.
for (const [path, body, field] of [
  ['/content', {}, 'url'],
  ['/content', { url: site, html: 'x' }, 'url'],
  ['/content', { url: site, authenticate: { username: 'a' } }, 'authenticate'],
  ['/content', { url: site, gotoOptions: { waitUntil: 'never' } }, 'gotoOptions.waitUntil'],
  ['/content', { url: site, waitForTimeout: 1e9 }, 'waitForTimeout'],
  ['/screenshot', { url: site, options: { type: 'gif' } }, 'options.type'],
  ['/pdf', { url: site, options: { margin: { top: 'wide' } } }, 'options.margin.top'],
  ['/function', { code: '1 + 1' }, 'code'],
]) {
  answer = await call(path, body);
  assert.equal(answer.status, 400, path + JSON.stringify(body));
  assert.ok((await answer.json()).errors.some(e => e.field === field), path + JSON.stringify(body));
}
assert.equal((await call('/content', { url: 'http://169.254.169.254/' })).status, 422);
assert.equal((await fetch(base + '/sessions')).status, 401);
assert.equal((await fetch(base + '/sessions?token=wrong-key-wrong-key-wrong')).status, 401);
assert.deepEqual(await (await fetch(base + '/sessions' + token)).json(), []);
process.exit(0); // without waiting for the connections that fetch keeps open
