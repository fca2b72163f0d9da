import { expect, test, type Download } from './test.js';
import type { Har } from 'har-format';
import validator from 'har-validator';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { auth, signIn } from './remote.js';

/** Downloads of captured events: other programs can read them, and they contain no secrets. */

const viewer = createRequire(import.meta.url).resolve('perf-cascade/dist/perf-cascade.min.js');

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

const textOf = async (download: Download): Promise<string> => readFileSync(await download.path(), 'utf8');

test('a HAR file is valid, opens in a viewer and has no secret in it', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const capture = { console: true, network: true, network_response_body: true, navigation: true };
  await request.post(`/v1/sessions/${id}/events/start`, { headers: auth(), data: capture });
  const code = `
    await page.goto('${baseURL}/demo/login?token=first-zanzibar');
    await page.evaluate(async () => {
      document.cookie = 'sid=second-zanzibar';
      const headers = { 'x-api-key': 'third-zanzibar', 'content-type': 'application/json' };
      await (await fetch('/demo/login?<b>=1|2', { method: 'POST', headers, body: JSON.stringify({ deep: [{ password: 'fourth-zanzibar' }] }) })).text();
      await Object.assign(new Image(), { src: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' }).decode();
      await (await fetch('/demo/none')).text();
    });
    await page.goto('${baseURL}/demo/popup');`;
  const run = await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, wait: true } })).json();
  expect(run.error ?? null).toBeNull();
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });

  await signIn(page);
  await page.goto(`/sessions/${id}`);
  const save = async (name: string): Promise<Download> => {
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('button', { name: 'Download and capture options' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
    return download;
  };
  const file = await save('Requests as HAR');
  expect(file.suggestedFilename()).toBe(`takeover-${id}.har`);
  const text = await textOf(file);
  const har = JSON.parse(text) as Har;
  await validator.har(har);
  expect(har.log.entries.map(({ request: { method, url } }) => `${method} ${url.replace(baseURL ?? '', '')}`)).toEqual(
    expect.arrayContaining(['GET /demo/login?token=%5BREDACTED%5D', 'POST /demo/login?%3Cb%3E=1%7C2', 'GET /demo/popup', 'GET /demo/none']),
  );
  expect(text).not.toContain('zanzibar');
  const pages = har.log.pages ?? [];
  expect(pages).toHaveLength(2);

  await page.goto('about:blank');
  await page.addScriptTag({ path: viewer });
  const drawn = await page.evaluate((log) => {
    const { perfCascade } = window as unknown as { perfCascade: { fromHar(har: unknown): SVGElement } };
    document.body.append(perfCascade.fromHar(log));
    return document.querySelectorAll('.row-item').length;
  }, har);
  // The viewer does not show data: URLs.
  const shown = har.log.entries.filter(({ pageref, request }) => pageref === pages[0]?.id && !request.url.startsWith('data:'));
  expect(drawn, 'requests of the first page in the viewer').toBe(shown.length);

  await page.goto(`/sessions/${id}`);
  const lines = (await textOf(await save('Events as JSON lines'))).trim().split('\n').map((line) => JSON.parse(line) as { seq: number; type: string });
  expect(lines.filter(({ type }) => type === 'navigation').length).toBeGreaterThanOrEqual(2);
  expect(JSON.stringify(lines)).not.toContain('zanzibar');
});
