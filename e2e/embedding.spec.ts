import { expect, test } from './test.js';
import { createServer, type Server } from 'node:http';
import { accessible, auth } from './remote.js';

/** A session in a frame of another site. The browser also treats it as another site, and keeps the cookies of frames apart. */

const site = `http://localhost:${process.env.E2E_EMBED_PORT}`;
let server: Server;

test.beforeAll(async () => {
  server = createServer((request, response) => {
    const link = new URL(request.url ?? '/', site).searchParams.get('link') ?? '';
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><html lang="en"><title>Another site</title><main><h1>Another site</h1>
<iframe title="Browser" width="1000" height="640" allow="clipboard-read; clipboard-write"></iframe></main>
<script>
  globalThis.told = [];
  const frame = document.querySelector('iframe');
  addEventListener('message', (event) => { if (event.data.source === 'takeover') globalThis.told.push({ from: event.origin, ...event.data }); });
  frame.src = ${JSON.stringify(link)};
</script>`);
  });
  await new Promise<void>((listening) => server.listen(Number(process.env.E2E_EMBED_PORT), listening));
});

test.afterAll(async () => {
  await new Promise((closed) => server.close(closed));
});

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('another site shows a session, is told what happens, and asks for control', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login` } })).json();
  const made = await (await request.post(`/v1/sessions/${id}/links`, { headers: auth(), data: { role: 'control', maxUses: 1 } })).json();
  const link = made.url.replace(/^https?:\/\/[^/]+/, baseURL);
  const told = (type: string): Promise<unknown[]> => page.evaluate((type) => (globalThis as unknown as { told: { type: string }[] }).told.filter((t) => t.type === type), type);
  const ask = (action: string): Promise<void> => page.evaluate((action) => document.querySelector('iframe')?.contentWindow?.postMessage({ target: 'takeover', type: 'control', action }, '*'), action);

  await page.goto(`${site}/?link=${encodeURIComponent(link)}`);
  const frame = page.frameLocator('iframe');
  await expect(frame.locator('#skeleton')).toBeHidden({ timeout: 20_000 });
  await expect.poll(() => told('ready')).toEqual([{ from: baseURL, source: 'takeover', type: 'ready', session: id, role: 'control' }]);

  // Only messages from the embedding page count, not those from a frame inside.
  const inner = page.frames().find((f) => f.url().startsWith(baseURL ?? '-'));
  await inner?.evaluate(() => new Promise<void>((heard) => {
    addEventListener('message', () => heard(), { once: true });
    window.postMessage({ target: 'takeover', type: 'control', action: 'take' }, '*');
  }));
  expect(await told('control')).not.toContainEqual(expect.objectContaining({ holder: 'me' }));
  await ask('take');
  await expect(frame.locator('#control-words')).toHaveText('You are in control');
  await expect.poll(() => told('control')).toContainEqual({ from: baseURL, source: 'takeover', type: 'control', holder: 'me' });
  await ask('release');
  await expect(frame.locator('#control-words')).toHaveText('Nobody in control');

  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Look here' } })).json();
  await expect.poll(() => told('takeover')).toContainEqual(expect.objectContaining({ takeover: expect.objectContaining({ id: asked.id, reason: 'Look here', state: 'pending' }) }));
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await expect.poll(() => told('ended')).toEqual([{ from: baseURL, source: 'takeover', type: 'ended', reason: 'released' }]);
  await accessible(page, 'embedded');
});

test('a person answers in a frame, and the site is told how', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Look here' } })).json();
  await page.goto(`${site}/?link=${encodeURIComponent(asked.url.replace(/^https?:\/\/[^/]+/, baseURL))}`);
  const frame = page.frameLocator('iframe');
  await expect(frame.locator('#control-words')).toHaveText('You are in control', { timeout: 20_000 });
  await frame.getByRole('button', { name: 'Done' }).click();
  await expect(frame.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await expect.poll(() => page.evaluate(() => (globalThis as unknown as { told: unknown[] }).told)).toContainEqual({ from: baseURL, source: 'takeover', type: 'done', outcome: 'done' });
});

test('no other site frames anything, and this one no other page', async ({ request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const policy = async (path: string): Promise<string> => (await request.get(path, { headers: { ...auth(), Accept: 'text/html' } })).headers()['content-security-policy'] ?? '';
  expect(await policy(`/sessions/${id}`)).toContain(`frame-ancestors ${site}`);
  for (const path of ['/', '/login', '/scripts', '/docs', `/v1/sessions/${id}`]) expect(await policy(path), path).toContain("frame-ancestors 'none'");
});
