import { devices, expect, test, type APIRequestContext } from './test.js';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessible, auth, hasPicture, Remote, signIn } from './remote.js';

/** A page whose renderer dies while people watch it. */

/** Returns a page whose title shows how often it was loaded and pressed. */
const page = (loads: number): string =>
  `<!doctype html><title>load ${loads}</title><body style="margin:0;height:100vh;background:rgb(${loads * 40} 0 0)" onclick="document.title='load ${loads} pressed'">`;

let server: Server;
let site = '';
let loads = 0;

test.beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url !== '/') return response.writeHead(404).end();
    response.setHeader('Content-Type', 'text/html').end(page(++loads));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

test.afterAll(() => {
  server.close();
  server.closeAllConnections();
});

test.beforeEach(() => (loads = 0));

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

async function open(request: APIRequestContext): Promise<string> {
  return (await (await request.post('/v1/sessions', { headers: auth(), data: { url: site } })).json()).id;
}

async function crash(request: APIRequestContext, session: string): Promise<void> {
  const code = `const crashed = page.waitForEvent('crash');
    (await context.newCDPSession(page)).send('Page.crash').catch(() => {});
    await crashed; return 'crashed'`;
  const run = await (await request.post(`/v1/sessions/${session}/scripts`, { headers: auth(), data: { wait: true, code } })).json();
  expect(run.error ?? null).toBeNull();
  expect(run.result).toBe('crashed');
}

const title = (request: APIRequestContext, session: string) =>
  expect.poll(async () => (await (await request.get(`/v1/sessions/${session}`, { headers: auth() })).json()).title);

test('a page that crashed says so, and comes back', async ({ page, browser, request }) => {
  const session = await open(request);
  await signIn(page);
  await page.goto(`/sessions/${session}`);
  await hasPicture(page);
  const list = await page.context().newPage();
  await list.goto('/');
  const card = list.locator('section[data-key=live] .row');
  await expect(card).toContainText('Idle');

  await crash(request, session);
  const overlay = page.locator('#overlay');
  const reload = overlay.getByRole('button', { name: 'Reload' });
  await expect(overlay).toContainText('This page crashed');
  await expect(reload).toBeVisible();
  await accessible(page, 'a page that crashed');
  await expect(card).toContainText('Page crashed');

  // A person who is not in control waits for the one who is.
  const { url } = await (await request.post(`/v1/sessions/${session}/links`, { headers: auth(), data: { role: 'view', expiresIn: 60_000 } })).json();
  const context = await browser.newContext();
  const guest = await context.newPage();
  await guest.goto(url);
  await expect(guest.locator('#overlay')).toContainText('This page crashed');
  await expect(guest.locator('#overlay').getByRole('button')).toHaveCount(0);

  const remote = new Remote(page);
  await reload.click();
  await expect(overlay).toBeHidden();
  await expect(guest.locator('#overlay')).toBeHidden();
  for (const each of [page, guest]) await expect.poll(() => new Remote(each).color({ x: 600, y: 300 })).toEqual([expect.closeTo(80, -1), expect.closeTo(0, -1), expect.closeTo(0, -1)]);
  await remote.click({ x: 600, y: 300 });
  await title(request, session).toBe('load 2 pressed');
  await expect(card).toContainText('Person in control');
  await context.close();

  // Once more, with the address bar.
  await page.locator('#control-button').click();
  await expect(page.locator('#control-words')).toHaveText('Nobody in control');
  await crash(request, session);
  await expect(overlay).toContainText('This page crashed');
  await page.locator('#reload').click();
  await expect(overlay).toBeHidden();
  await expect.poll(() => remote.color({ x: 600, y: 300 })).toEqual([expect.closeTo(120, -1), expect.closeTo(0, -1), expect.closeTo(0, -1)]);
  await remote.click({ x: 600, y: 300 });
  await title(request, session).toBe('load 3 pressed');
});

test('a page that crashes under a person on a phone comes back', async ({ browser, request }) => {
  const session = await open(request);
  await crash(request, session);
  const { url } = await (await request.post(`/v1/sessions/${session}/takeovers`, { headers: auth(), data: { reason: 'Press the page' } })).json();
  const context = await browser.newContext({ ...devices['iPhone 13'], defaultBrowserType: undefined, viewport: { width: 390, height: 844 } } as object);
  const theirs = await context.newPage();
  await theirs.goto(url);
  const overlay = theirs.locator('#overlay');
  await expect(overlay).toContainText('This page crashed');
  await accessible(theirs, 'a page that crashed, on a phone');
  await overlay.getByRole('button', { name: 'Reload' }).tap();
  await expect(overlay).toBeHidden();
  const remote = new Remote(theirs);
  await expect.poll(() => remote.color({ x: 600, y: 300 })).toEqual([expect.closeTo(80, -1), expect.closeTo(0, -1), expect.closeTo(0, -1)]);
  const { x, y } = await remote.at({ x: 600, y: 300 });
  await theirs.touchscreen.tap(x, y);
  await title(request, session).toBe('load 2 pressed');
  await theirs.getByRole('button', { name: 'Done' }).tap();
  await expect(theirs.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await context.close();
});
