import { expect, test } from './test.js';
import { createServer, type Server } from 'node:http';
import { accessible, auth } from './remote.js';

/** The web component <takeover-viewer>, in a page of another site. */

const site = `http://localhost:${process.env.E2E_EMBED_PORT}`;
let server: Server;

test.beforeAll(async ({ server: takeover }) => {
  server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><html lang="en"><title>Another site</title><main><h1>Another site</h1><takeover-viewer title="Browser"></takeover-viewer></main>
<script>
  globalThis.told = [];
  for (const type of ['ready', 'control', 'takeover', 'done', 'ended']) document.querySelector('takeover-viewer').addEventListener(type, (event) => told.push([type, event.detail]));
</script><script type="module" src="${takeover.url}/static/takeover-viewer.js"></script>`);
  });
  await new Promise<void>((listening) => server.listen(Number(process.env.E2E_EMBED_PORT), listening));
});

test.afterAll(async () => {
  await new Promise((closed) => server.close(closed));
});

test('the component shows a takeover, takes and gives back control, and says what happens', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login` } })).json();
  const made = await (await request.post(`/v1/sessions/${id}/links`, { headers: auth(), data: { role: 'control', maxUses: 1 } })).json();
  const told = (): Promise<unknown> => page.evaluate(() => (globalThis as unknown as { told: unknown }).told);
  const show = (url: string): Promise<void> => page.locator('takeover-viewer').evaluate((viewer, src) => viewer.setAttribute('src', src), url.replace(/^https?:\/\/[^/]+/, baseURL ?? ''));
  const call = (name: 'take' | 'release'): Promise<void> => page.locator('takeover-viewer').evaluate((viewer, name) => (viewer as unknown as Record<string, () => void>)[name]?.(), name);

  await page.goto(site);
  await show(made.url);
  const frame = page.frameLocator('takeover-viewer iframe');
  await expect.poll(told, { timeout: 20_000 }).toContainEqual(['ready', { session: id, role: 'control' }]);
  await call('take');
  await expect(frame.locator('#control-words')).toHaveText('You are in control');
  await expect.poll(told).toContainEqual(['control', { holder: 'me' }]);
  await call('release');
  await expect(frame.locator('#control-words')).toHaveText('Nobody in control');

  // What only looks like a message of the frame is no event.
  await page.evaluate(() => new Promise<void>((heard) => {
    addEventListener('message', () => heard(), { once: true });
    window.postMessage({ source: 'takeover', type: 'done', outcome: 'failed' }, '*');
  }));
  expect(await told()).not.toContainEqual(['done', { outcome: 'failed' }]);
  await accessible(page, 'component');

  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Look here' } })).json();
  await show(asked.url);
  await expect(frame.locator('#control-words')).toHaveText('You are in control', { timeout: 20_000 });
  await frame.getByRole('button', { name: 'Done' }).click();
  await expect.poll(told).toContainEqual(['done', { outcome: 'done' }]);
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
});

test('the component loads another link of the same session', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const link = async (role: string): Promise<{ id: string; url: string }> => (await request.post(`/v1/sessions/${id}/links`, { headers: auth(), data: { role } })).json();
  const told = (): Promise<unknown> => page.evaluate(() => (globalThis as unknown as { told: unknown }).told);
  const show = (url: string): Promise<void> => page.locator('takeover-viewer').evaluate((viewer, src) => viewer.setAttribute('src', src), url.replace(/^https?:\/\/[^/]+/, baseURL ?? ''));

  await page.goto(site);
  const first = await link('view');
  await show(first.url);
  await expect.poll(told, { timeout: 20_000 }).toContainEqual(['ready', { session: id, role: 'view' }]);
  await request.delete(`/v1/sessions/${id}/links/${first.id}`, { headers: auth() });
  await expect.poll(told).toContainEqual(['ended', { reason: expect.any(String) }]);
  await show((await link('control')).url);
  await expect.poll(told, { timeout: 20_000 }).toContainEqual(['ready', { session: id, role: 'control' }]);
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
});
