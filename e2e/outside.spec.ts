import { expect, test, type APIRequestContext, type Page } from './test.js';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessible, auth, hasPicture, newSession, Remote, signIn } from './remote.js';

/** What Chromium would show outside the remote page: refused permissions, printing, full screen, the context menu. */

/** Pages whose title shows what they received. */
const PAGES: Record<string, string> = {
  '/place': `<title>ready</title><button style="position:absolute;left:40px;top:40px;width:200px;height:60px">Where am I?</button><script>
    const tell = (text) => (document.title = text);
    document.querySelector('button').onclick = () => navigator.geolocation.getCurrentPosition(
      ({ coords }) => tell('at ' + coords.latitude + ' ' + coords.longitude), (error) => tell('refused ' + error.code));
    navigator.permissions.query({ name: 'geolocation' }).then((status) => { document.body.dataset.state = status.state; });</script>`,
  '/note': `<title>ready</title><button style="position:absolute;left:40px;top:40px;width:200px;height:60px">Tell me</button><script>
    document.querySelector('button').onclick = async () => (document.title = 'notes ' + await Notification.requestPermission());</script>`,
};

PAGES['/print'] = `<title>ready</title><style>@media print { #screen { display: none } }</style><p id=screen>On the screen</p><p>On paper</p>
  <button style="position:absolute;left:40px;top:140px;width:200px;height:60px">Print</button><script>
    let times = 0;
    addEventListener('beforeprint', () => (document.title = 'printed ' + ++times));
    document.querySelector('button').onclick = () => print();</script>`;

PAGES['/whole'] = `<title>ready</title><button style="position:absolute;left:40px;top:40px;width:200px;height:60px">Whole screen</button><script>
    document.querySelector('button').onclick = () => document.documentElement.requestFullscreen();
    let escapes = 0;
    addEventListener('keydown', ({ key }) => key === 'Escape' && escapes++);
    document.addEventListener('fullscreenchange', () => (document.title = (document.fullscreenElement ? 'whole' : 'part') + ' ' + innerWidth + ' ' + escapes));
    addEventListener('keydown', ({ key }) => key === 'Escape' && (document.title = 'escape ' + escapes));</script>`;
PAGES['/menu'] = `<title>ready</title><style>a,p,input,div{position:absolute;left:40px;width:300px;height:30px;font:20px sans-serif}</style>
    <a href="/note" style="top:40px">a link</a><p style="top:100px">words to copy</p><input style="top:160px" value="in a field">
    <div id=own style="top:220px;background:#cde">a menu of its own</div><script>
    own.oncontextmenu = (event) => { event.preventDefault(); document.title = 'own menu ' + event.button; };
    document.querySelector('input').oninput = ({ target }) => (document.title = 'field ' + target.value);</script>`;

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

/** Waits until the remote page's title shows what it received. */
async function received(request: APIRequestContext, session: string, title: string): Promise<void> {
  await expect.poll(async () => (await (await request.get(`/v1/sessions/${session}`, { headers: auth() })).json()).title).toBe(title);
}

/** Opens a session whose person has gone to one of the pages. */
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
  const bar = page.getByRole('region', { name: 'Blocked permission request' });
  await expect(bar).toBeHidden();
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'refused 1'); // nothing is blocked
  await expect(bar).toContainText(`${site.slice(7)} asked to know your location. The request was blocked.`);
  await accessible(page, 'a page was refused a permission');

  // The position is that of the person's device, if their own browser permits that.
  await context.setGeolocation({ latitude: 60.39, longitude: 5.32 });
  await context.grantPermissions(['geolocation']);
  await bar.getByRole('button', { name: 'Allow and reload' }).click();
  await expect(bar).toBeHidden();
  await received(request, session, 'ready');
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'at 60.39 5.32');

  // Another permission is another question, and the answer is no.
  await go(page, request, session, '/note');
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'notes denied');
  await expect(bar).toContainText('asked to send notifications');
  await bar.getByRole('button', { name: 'Keep blocked' }).click();
  await expect(bar).toBeHidden();

  // When a page is left, its question ends.
  await go(page, request, session, '/place');
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'at 60.39 5.32');
  await expect(bar).toBeHidden();
});

test('what a page prints is a file for the person', async ({ page, request }) => {
  const { session, remote } = await open(page, request, '/print');
  await remote.click({ x: 140, y: 170 });
  const tray = page.getByRole('region', { name: 'Downloads' });
  await expect(tray.getByText(/^Ready/)).toBeVisible();
  const [saved] = await Promise.all([page.waitForEvent('download'), tray.getByRole('link', { name: /^Save .*\.pdf$/ }).click()]);
  const pdf = readFileSync(await saved.path());
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  // The page is printed twice: by its own call and for the PDF, which must not count as another call.
  await received(request, session, 'printed 2');
  await expect(tray.getByRole('listitem')).toHaveCount(1);
});

test('a page fills the screen until Escape', async ({ page, request }) => {
  const { session, remote } = await open(page, request, '/whole');
  await remote.click({ x: 140, y: 70 });
  await received(request, session, 'whole 1280 0');
  await page.keyboard.press('Escape');
  await received(request, session, 'part 1280 0'); // Chromium handles the key itself, as it does with a window
  await page.keyboard.press('Escape');
  await received(request, session, 'escape 1'); // the page gets the key when it is not in full screen
});

test('the right button opens a menu, by mouse, keyboard and fingers', async ({ page, request, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { session, remote } = await open(page, request, '/menu');
  const menu = page.getByRole('menu', { name: 'Remote page' });
  const right = async (x: number, y: number): Promise<void> => {
    const at = await remote.at({ x, y });
    await page.mouse.click(at.x, at.y, { button: 'right' });
  };
  const items = (): Promise<string[]> => menu.getByRole('menuitem').allTextContents();

  await right(60, 235);
  await received(request, session, 'own menu 2');
  await right(60, 55);
  await expect(menu).toBeVisible(); // and no menu was opened for the page's own one
  expect(await items()).toEqual(['Open link in new tab', 'Copy link address']);
  await accessible(page, 'the menu of a link');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(menu).toBeHidden();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${site}/note`);

  // Nothing under the pointer. Escape closes the menu, and the page does not get it.
  await right(700, 600);
  await expect(menu).toBeVisible();
  expect(await items()).toEqual(['Back', 'Forward', 'Reload']);
  await page.keyboard.press('Escape');
  await expect(menu).toBeHidden();

  // In a field, by keyboard: all of it is copied, and pasted at its end.
  await remote.click({ x: 100, y: 175 });
  await page.keyboard.press('Control+a');
  await page.keyboard.press('ContextMenu');
  await expect(menu).toBeVisible();
  expect(await items()).toEqual(['Copy', 'Cut', 'Paste', 'Select all']);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('in a field');
  await page.keyboard.press('End');
  await right(330, 175); // after the text, where the caret goes
  await menu.getByRole('menuitem', { name: 'Paste' }).click();
  await received(request, session, 'field in a fieldin a field');

  // Two fingers on a link, which opens in a tab of its own.
  const { x, y } = await remote.at({ x: 60, y: 55 });
  const cdp = await context.newCDPSession(page);
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: x - 5, y, id: 0 }, { x: x + 5, y, id: 1 }] });
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await menu.getByRole('menuitem', { name: 'Open link in new tab' }).click();
  await received(request, session, 'ready');
  await expect.poll(async () => (await (await request.get(`/v1/sessions/${session}`, { headers: auth() })).json()).tabs.map((tab: { url: string }) => tab.url)).toEqual([`${site}/menu`, `${site}/note`]);
});

test('the keys of the page are listed', async ({ page, request }) => {
  const { session, remote } = await open(page, request, '/menu');
  await page.getByRole('button', { name: 'Reload' }).focus();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(help).toContainText('Leave the page');
  await accessible(page, 'the list of keys');
  await page.keyboard.press('Escape');
  await expect(help).toBeHidden();
  // In the remote page, the key types a question mark.
  await remote.click({ x: 330, y: 175 });
  await page.keyboard.press('?');
  await received(request, session, 'field in a field?');
  await expect(help).toBeHidden();
});
