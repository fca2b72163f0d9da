// Uses a server as programs that were written for Steel do, with Steel's published
// client. Arguments: the server's address, its key, and a site.

import assert from 'node:assert/strict';
import Steel, { toFile } from 'steel-sdk';

const [base, key, site] = process.argv.slice(2);
const client = new Steel({ steelAPIKey: key, baseURL: base, maxRetries: 0 });

// Sessions.
const id = '0b8f7f0e-6a53-4a2c-9d6e-0c6f5f1f7a11';
const session = await client.sessions.create({
  sessionId: id, timeout: 120_000, inactivityTimeout: 60_000, blockAds: true, dimensions: { width: 900, height: 600 }, userAgent: 'Steel/1', solveCaptcha: false,
  optimizeBandwidth: { blockHosts: ['blocked.example'] },
  sessionContext: { cookies: [{ name: 'login', value: 'fig', url: site }], localStorage: { [new URL(site).host]: { fruit: 'date' } } },
});
assert.equal(session.id, id);
assert.equal(session.status, 'live');
assert.deepEqual(session.dimensions, { width: 900, height: 600 });
assert.equal(session.timeout, 120_000);
assert.equal(session.creditsUsed, 0);
assert.equal(session.proxySource, null);
assert.equal(session.isSelenium, false);
assert.equal(typeof session.proxyBytesUsed, 'number');
assert.ok(session.websocketUrl.startsWith('ws') && session.sessionViewerUrl && session.debugUrl);
await assert.rejects(client.sessions.create({ sessionId: id }), Steel.BadRequestError);

const retrieved = await client.sessions.retrieve(id);
assert.equal(retrieved.id, id);
assert.equal(retrieved.userAgent, 'Steel/1');

const second = await client.sessions.create();
const listed = [];
for await (const one of client.sessions.list({ limit: 1 })) // a page for each
  listed.push(one.id);
assert.deepEqual(listed, [second.id, id]);

const context = await client.sessions.context(id);
assert.equal(context.cookies[0].name, 'login');
assert.equal(context.cookies[0].value, 'fig');
assert.equal(context.localStorage[new URL(site).host].fruit, 'date');
const copied = await client.sessions.create({ sessionContext: context });
assert.equal((await client.sessions.context(copied.id)).localStorage[new URL(site).host].fruit, 'date');

// Where people see it.
const live = await client.sessions.liveDetails(id);
assert.equal(live.sessionViewerUrl, session.sessionViewerUrl);
assert.equal(live.wsUrl, session.websocketUrl);
assert.equal(live.pages.length, 1);
assert.ok(live.pages[0].id && live.pages[0].url && live.pages[0].sessionViewerUrl);

// Files.
const uploaded = await client.sessions.files.upload(id, { file: await toFile(Buffer.from('content'), 'note.txt') });
assert.equal(uploaded.path, 'note.txt');
assert.equal(uploaded.size, 7);
assert.ok(Date.parse(uploaded.lastModified));
const files = await client.sessions.files.list(id);
assert.deepEqual(files.data.map(f => [f.path, f.size]), [['note.txt', 7]]);
assert.equal(await (await client.sessions.files.download(id, 'note.txt')).text(), 'content');
const archive = Buffer.from(await (await client.sessions.files.downloadArchive(id)).arrayBuffer());
assert.equal(archive.toString('latin1', 0, 2), 'PK');
assert.ok(archive.includes('note.txt'));
await client.sessions.files.delete(id, 'note.txt');
assert.equal((await client.sessions.files.list(id)).data.length, 0);
await client.sessions.files.upload(id, { file: await toFile(Buffer.from('x'), 'other.txt') });
await client.sessions.files.deleteAll(id);
assert.equal((await client.sessions.files.list(id)).data.length, 0);

// Release.
const released = await client.sessions.release(id);
assert.equal(released.success, true);
assert.equal((await client.sessions.retrieve(id)).status, 'released');
assert.equal((await client.sessions.releaseAll()).success, true);
assert.equal((await client.sessions.retrieve(second.id)).status, 'released');

// What this server does not do is refused, with the reason.
for (const [params, reason] of [
  [{ isSelenium: true }, /Selenium/],
  [{ extensionIds: ['all_ext'] }, /extensions/],
  [{ credentials: { autoSubmit: true } }, /credentials/],
  [{ useProxy: true }, /proxyUrl/],
  [{ optimizeBandwidth: true }, /blockHosts/],
  [{ sessionContext: { indexedDB: { 'a.example': [{ id: 1, name: 'n', data: [] }] } } }, /origins/],
])
  await assert.rejects(client.sessions.create(params), error => error instanceof Steel.BadRequestError && reason.test(error.message));

// So is each call that this server does not have.
for (const [call, reason] of [
  [() => client.credentials.list(), /profile that is signed in/],
  [() => client.credentials.create({ value: {} }), /takeover/],
  [() => client.credentials.update({}), /takeover/],
  [() => client.credentials.delete({ origin: 'https://a.example' }), /takeover/],
  [() => client.extensions.list(), /extensions/],
  [() => client.extensions.upload({ url: 'https://a.example/x' }), /extensions/],
  [() => client.extensions.update('x', {}), /extensions/],
  [() => client.extensions.download('x'), /extensions/],
  [() => client.extensions.delete('x'), /extensions/],
  [() => client.extensions.deleteAll(), /extensions/],
  [() => client.files.list(), /v1\/sessions\/:id\/files/],
  [() => client.files.download('x'), /v1\/sessions\/:id\/files/],
  [() => client.files.delete('x'), /v1\/sessions\/:id\/files/],
  [async () => client.files.upload({ file: await toFile(Buffer.from('x'), 'x') }), /v1\/sessions\/:id\/files/],
  [() => client.sessions.captchas.solve(id), /captchas/],
  [() => client.sessions.captchas.solveImage(id, { imageXPath: '//a', inputXPath: '//b' }), /captchas/],
  [() => client.sessions.captchas.status(id), /captchas/],
  [() => client.sessions.computer(id, { action: 'take_screenshot' }), /MCP/],
  [async () => client.profiles.create({ userDataDir: await toFile(Buffer.from('x'), 'x') }), /persistProfile/],
  [async () => client.profiles.update('x', { userDataDir: await toFile(Buffer.from('x'), 'x') }), /persistProfile/],
])
  await assert.rejects(call, error => error instanceof Steel.APIError && error.status === 501 && reason.test(error.message));

assert.deepEqual([(await client.profiles.list()).profiles, (await client.profiles.list()).count], [[], 0]);
assert.ok('next' in await client.sessions.events(id, { limit: 5 }));

// One page.
const scraped = await client.scrape({ url: site + '/article', format: ['html', 'cleaned_html', 'markdown', 'readability'], screenshot: true, pdf: true, delay: 1 });
assert.equal(scraped.metadata.statusCode, 200);
assert.equal(scraped.metadata.title, 'On quinces');
assert.equal(scraped.metadata.description, 'A fruit');
assert.equal(scraped.metadata.language, 'en');
assert.deepEqual(scraped.links, [{ url: site + '/next', text: 'the next page' }]);
assert.ok(scraped.content.html.includes('<script>'));
assert.ok(!/script|style|onclick/.test(scraped.content.cleaned_html) && scraped.content.cleaned_html.includes('<h1>Quinces</h1>'));
assert.ok(scraped.content.markdown.includes('# Quinces') && scraped.content.markdown.includes('[the next page](/next)'));
assert.ok(scraped.content.readability.textContent.includes('yellow when ripe'));
for (const [hosted, type, magic] of [[scraped.screenshot, 'image/png', '\x89PNG'], [scraped.pdf, 'application/pdf', '%PDF']]) {
  const response = await fetch(hosted.url); // without a key
  assert.equal(response.headers.get('content-type'), type);
  assert.equal(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 4), magic);
}
const shot = await client.screenshot({ url: site + '/article', fullPage: true });
assert.equal((await fetch(shot.url)).status, 200);
const pdf = await client.pdf({ url: site + '/article' });
assert.equal((await fetch(pdf.url)).status, 200);
await assert.rejects(client.screenshot({ url: 'http://169.254.169.254/' }), Steel.UnprocessableEntityError);
await assert.rejects(client.scrape({ url: 'file:///etc/passwd' }), Steel.BadRequestError);
assert.equal((await fetch(base + '/v1/renders?name=x')).status, 404);
assert.ok((await client.sessions.list({ status: 'live' })).sessions.length === 0);

process.exit(0); // without waiting for the connections that the client keeps open
