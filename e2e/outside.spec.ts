import { expect, test, type APIRequestContext, type Page } from '@playwright/test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessible, auth, hasPicture, newSession, Remote, signIn } from './remote.js';

/** What Chromium would say or draw beside the remote page: refusals, paper, the whole screen, the menu of the right button. */

/** Pages that say in their title what they received. */
const PAGES: Record<string, string> = {
  '/place': `<title>ready</title><button style="position:absolute;left:40px;top:40px;width:200px;height:60px">Where am I?</button><script>
    const tell = (text) => (document.title = text);
    document.querySelector('button').onclick = () => navigator.geolocation.getCurrentPosition(
      ({ coords }) => tell('at ' + coords.latitude + ' ' + coords.longitude), (error) => tell('refused ' + error.code));
    navigator.permissions.query({ name: 'geolocation' }).then((status) => { document.body.dataset.state = status.state; });</script>`,
  '/note': `<title>ready</title><button style="position:absolute;left:40px;top:40px;width:200px;height:60px">Tell me</button><script>
    document.querySelector('button').onclick = async () => (document.title = 'notes ' + await Notification.requestPermission());</script>`,
};

let server: Server;
let site = '';
test.beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><style>*{margin:0}</style>${PAGES[request.url ?? ''] ?? ''}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
test.afterAll(() => {
  server.closeAllConnections();
  server.close();
});
test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

/** Waits until the remote page has received what its title says. */
async function received(request: APIRequestContext, session: string, title: string): Promise<void> {
  await expect.poll(async () => (await (await request.get(`/v1/sessions/${session}`, { headers: auth() })).json()).title).toBe(title);
}

/** A session whose person has gone to one of the pages. */
async function open(page: Page, request: APIRequestContext, path: string): Promise<{ session: string; remote: Remote }> {
  await signIn(page);
  const session = await newSession(page);
  await go(page, request, session, path);
  return { session, remote: new Remote(page) };
}

async function go(page: Page, request: APIRequestContext, session: string, path: string): Promise<void> {
  const address = page.getByLabel('Address of the remote page');
  await address.fill(site + path);
  await address.press('Enter');
  await received(request, session, 'ready');
  await hasPicture(page);
}

test('a person allows what a page was refused', async ({ page, request, context }) => {
  const { session, remote } = await open(page, request, '/place');
  const bar = page.getByRole('region', { name: 'A permission that the page was refused' });
  await expect(bar).toBeHidden();
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'refused 1'); // nothing waits
  await expect(bar).toContainText(`${site.slice(7)} asked to know your location. It was refused.`);
  await accessible(page, 'a page was refused a permission');

  // The place is that of the person's device, if their own browser may tell it.
  await context.setGeolocation({ latitude: 60.39, longitude: 5.32 });
  await context.grantPermissions(['geolocation']);
  await bar.getByRole('button', { name: 'Allow and reload' }).click();
  await expect(bar).toBeHidden();
  await received(request, session, 'ready');
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'at 60.39 5.32');

  // Another permission is another question, and a no is one.
  await go(page, request, session, '/note');
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'notes denied');
  await expect(bar).toContainText('asked to send notifications');
  await bar.getByRole('button', { name: 'Leave it refused' }).click();
  await expect(bar).toBeHidden();

  // A page of the site that is left is left with its question.
  await go(page, request, session, '/place');
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'at 60.39 5.32');
  await expect(bar).toBeHidden();
});

