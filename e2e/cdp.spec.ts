import { chromium } from 'playwright-core';
import { ARGS, CHROMIUM } from './chromium.js';
import puppeteer from 'puppeteer-core';
import { expect, test, type APIRequestContext, type Browser } from './test.js';
import { accessible, auth, codeOnPhone, explore, hasPicture, key, newSession, Remote, signIn, signInByHand } from './remote.js';

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

/** Programs that drive a session by the CDP endpoint, unmodified, while a person helps. */

/** A takeover as Takeover.request answers it. */
interface Takeover { state: string; claimedBy: string; note: string; changes: { urlBefore: string; urlAfter: string; cookiesSet: string[]; titleAfter: string } }

async function create(request: APIRequestContext): Promise<{ id: string; endpoint: string }> {
  const made = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json() as { id: string; websocketUrl: string };
  return { id: made.id, endpoint: `${made.websocketUrl}&apiKey=${key()}` };
}

/** Opens a takeover's link, signs in to the demo site there, and presses Done. */
async function help(browser: Browser, link: string, code: () => Promise<string>): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const places = await explore(await context.newPage());
  const theirs = await context.newPage();
  await theirs.goto(link);
  await hasPicture(theirs);
  await expect(theirs.locator('#control-words')).toHaveText('You are in control');
  await signInByHand(new Remote(theirs), places, code);
  await theirs.getByRole('button', { name: 'Done' }).click();
  await expect(theirs.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await context.close();
}

test('Connect shows the line for each program, and the copied address connects', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await signIn(page);
  const id = await newSession(page);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await accessible(page, 'connect');
  const dialog = page.getByRole('dialog', { name: 'Connect a program' });
  await dialog.getByLabel('Program').selectOption('playwright-mcp');
  await dialog.getByRole('button', { name: 'Copy: playwright-mcp' }).click();
  const line = await page.evaluate(() => navigator.clipboard.readText());
  expect(line).toMatch(/^npx @playwright\/mcp --cdp-endpoint "ws:.*\$TAKEOVER_API_KEY"$/);
  const address = line.split('"')[1]!.replace('$TAKEOVER_API_KEY', key());
  const client = await chromium.connectOverCDP(address);
  expect(client.contexts()[0]!.pages().length, `pages of ${id}`).toBe(1);
  await client.close();
  await dialog.getByLabel('Program').selectOption({ label: 'Chrome’s DevTools' });
  await expect(dialog.getByText(`devtools://devtools/bundled/inspector.html?`)).toBeVisible();

  // Settings have the lines for a new session, of the program that was chosen last.
  await dialog.getByLabel('Program').selectOption('curl');
  await page.goto('/settings');
  await expect(page.getByRole('combobox', { name: 'Program' })).toHaveValue('curl');
  await expect(page.getByText('curl -H "Authorization: Bearer $TAKEOVER_API_KEY" -X POST')).toBeVisible();
  await accessible(page, 'settings');
});

test('Chrome’s DevTools inspect the page that people see', async ({ baseURL, request }) => {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS }); // the headless shell has no DevTools
  const made = await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login` } });
  const { devtoolsUrl } = await made.json() as { devtoolsUrl: string };
  const page = await browser.newPage();
  await page.goto(devtoolsUrl + key());
  await expect(page.getByRole('treeitem', { name: 'at-login' }), 'the body, among the elements').toBeVisible();
  await page.getByRole('tab', { name: 'Console' }).click();
  await page.getByRole('textbox', { name: 'Console prompt' }).fill('document.title + " here"');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Sign in · Demo here')).toBeVisible();
  await page.goto(devtoolsUrl + 'wrong');
  await expect(page.getByText('WebSocket disconnected')).toBeVisible();
  await browser.close();
});

test('a person signs in while Playwright waits', async ({ browser, baseURL, request }) => {
  const { id, endpoint } = await create(request);
  const client = await chromium.connectOverCDP(endpoint);
  const context = client.contexts()[0]!;
  const other = context.pages()[0]!;
  await other.setContent('<title>other</title><button onclick="this.textContent = \'pressed\'">press</button>');
  const handle = (await other.$('button'))!;
  const page = await context.newPage();
  await page.goto(`${baseURL}/demo/login`);
  await page.getByLabel('Email').fill('demo@example.com');

  const welcome = page.locator('#user-name').textContent({ timeout: 90_000 }); // waits all the time
  const session = await context.newCDPSession(page);
  const send = session.send.bind(session) as unknown as (method: string, params: object) => Promise<Takeover>;
  const asked = new Promise<{ id: string; url: string }>((resolve) => (session as unknown as NodeJS.EventEmitter).once('Takeover.requested', resolve));
  const ended = send('Takeover.request', { reason: 'Sign in to the demo site', timeout: 90_000 });
  const { url } = await asked;
  const title = other.evaluate(() => document.title); // may write, and so waits until the person has finished
  let waits = true;
  void title.then(() => (waits = false));
  await help(browser, url, async () => {
    expect(waits).toBe(true);
    expect((await session.send('Page.getFrameTree')).frameTree.frame.url, 'reading goes on').toContain('/demo/');
    return codeOnPhone(request, id);
  });

  expect(await ended).toMatchObject({ state: 'done', changes: { urlBefore: `${baseURL}/demo/login` } });
  expect(await welcome).toBe('Demo User');
  expect(await title).toBe('other');
  await handle.click();
  expect(await handle.textContent()).toBe('pressed');
  await client.close();
});

test('a person signs in while Puppeteer waits', async ({ browser, baseURL, request }) => {
  const { id, endpoint } = await create(request);
  const client = await puppeteer.connect({ browserWSEndpoint: endpoint, defaultViewport: null });
  const page = (await client.pages())[0]!;
  await page.goto(`${baseURL}/demo/login`);
  await page.locator('input[name=email]').fill('demo@example.com');

  const welcome = page.waitForSelector('#user-name', { timeout: 90_000 });
  const session = await page.createCDPSession();
  const events = session as unknown as NodeJS.EventEmitter;
  const complete = new Promise<{ success: boolean }>((resolve) => events.once('Cloudflare.handoffComplete', resolve));
  const send = session.send.bind(session) as unknown as (method: string, params: object) => Promise<{ handoffId: string; active: boolean }>;
  const { handoffId } = await send('Cloudflare.handoff', { instructions: 'Sign in to the demo site', timeout: 90_000 });
  expect(await send('Cloudflare.getHandoffState', { handoffId })).toMatchObject({ handoffId, active: true });
  const open = await (await request.get(`/v1/sessions/${id}/takeovers/${handoffId}`, { headers: auth() })).json() as { url: string };
  await help(browser, open.url, () => codeOnPhone(request, id));

  expect(await complete).toMatchObject({ handoffId, success: true, reason: 'done' });
  expect(await send('Cloudflare.getHandoffState', { handoffId })).toMatchObject({ active: false });
  expect(await (await welcome)!.evaluate((e) => e.textContent)).toBe('Demo User');
  await client.disconnect();
});
