import { expect, test, type Page } from './test.js';
import { accessible, auth, signIn } from './remote.js';

/** What this browser does for the person, and what the server reports about itself. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('notifications are asked for by a click, and tell of a takeover', async ({ browser, request, baseURL }) => {
  const context = await browser.newContext();
  await context.grantPermissions([], { origin: baseURL });
  const page = await context.newPage();
  // The system draws the browser's own notifications, so this records them instead.
  await page.addInitScript(() => {
    const shown: string[] = JSON.parse(sessionStorage.getItem('shown') ?? '[]');
    let asked = Number(sessionStorage.getItem('asked'));
    class Noted extends EventTarget {
      static get permission(): string {
        return asked ? 'granted' : 'default';
      }
      static async requestPermission(): Promise<string> {
        sessionStorage.setItem('asked', String(++asked));
        return 'granted';
      }
      constructor(title: string, { body }: { body: string }) {
        super();
        shown.push(`${title}: ${body}`);
        sessionStorage.setItem('shown', JSON.stringify(shown));
      }
    }
    Object.assign(window, { Notification: Noted });
  });
  const noted = (key: string): Promise<string | null> => page.evaluate((k) => sessionStorage.getItem(k), key);

  await signIn(page);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Settings' }).click();
  await accessible(page, 'settings');
  await expect(page.getByLabel('Play a sound too')).not.toBeChecked();
  expect(await noted('asked')).toBeNull();
  await page.getByLabel('Notify me').check();
  expect(await noted('asked')).toBe('1');
  await page.reload();
  await expect(page.getByLabel('Notify me')).toBeChecked();
  await page.getByLabel('Dark').check();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByLabel('System').check();
  await expect(page.locator('html')).not.toHaveAttribute('data-theme', /./);
  await expect(page.locator('.facts')).toContainText('API version');
  const left = (): Promise<number> => page.locator('h1').evaluate((title) => Math.round(title.getBoundingClientRect().left));
  const here = await left();
  await page.goto('/takeovers');
  expect(await left()).toBe(here);

  await page.goto('/');
  const icon = (): Promise<string | null> => page.locator('link[rel=icon]').getAttribute('href');
  const usual = await icon();
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await expect(page.locator('section[data-key=live] .row')).toHaveCount(1);
  await expect.poll(() => page.evaluate(() => navigator.locks.query().then(({ held }) => held?.length))).toBe(1); // this page announces takeovers
  await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Enter the code' } });
  await expect(page).toHaveTitle(/^\(1\) /);
  expect(await noted('shown')).toBe('["Waiting for a person: Enter the code"]');
  expect(await icon()).not.toBe(usual);
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await expect(page).toHaveTitle(/^Sessions/);
  expect(await icon()).toBe(usual);

  // Any page of the operator announces takeovers, but only one of several.
  const { id: other } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await Promise.all([page.waitForResponse('**/v1/sessions/stream'), page.goto('/scripts')]);
  const second = await context.newPage();
  await second.goto('/settings');
  await request.post(`/v1/sessions/${other}/takeovers`, { headers: auth(), data: { reason: 'Once more' } });
  await expect.poll(() => noted('shown')).toBe('["Waiting for a person: Enter the code","Waiting for a person: Once more"]');
  expect(await second.evaluate(() => navigator.locks.query().then(({ held, pending }) => [held?.length, pending?.length]))).toEqual([1, 1]);
  await context.close();
});

test('a takeover that begins before a page is the one that tells is told, and by one page only', async ({ browser, request }) => {
  const context = await browser.newContext();
  await context.addInitScript(() => {
    class Noted extends EventTarget {
      static permission = 'granted';
      constructor(_: string, { body }: { body: string }) {
        super();
        (window as { said?: string[] }).said = [...said(), body];
      }
    }
    const said = (): string[] => (window as { said?: string[] }).said ?? [];
    Object.assign(window, { Notification: Noted });
    localStorage.setItem('takeover.notify', 'on');
  });
  const said = (page: Page): Promise<string[]> => page.evaluate(() => (window as { said?: string[] }).said ?? []);
  const ask = async (reason: string): Promise<void> => {
    const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
    await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason } });
  };
  /** Opens a page that does not announce takeovers, until `free` is called. */
  const openUntold = async (path: string): Promise<{ page: Page; free(): Promise<void> }> => {
    const holder = await context.newPage();
    await holder.goto('/login'); // of the same origin, and not a page that announces
    await holder.evaluate(() => new Promise<void>((held) => void navigator.locks.request('takeover.calls', () => new Promise(() => held()))));
    const page = await context.newPage();
    await page.goto(path);
    return { page, free: () => holder.close() };
  };
  const first = await context.newPage();
  await signIn(first);
  await first.close();

  // The list shows the takeover, but does not announce it yet.
  const list = await openUntold('/');
  await expect(list.page).toHaveTitle(/^Sessions/);
  await expect(list.page.locator('#online')).toHaveAttribute('data-state', 'open');
  await ask('For the list');
  await expect(list.page).toHaveTitle(/^\(1\) /);
  expect(await said(list.page)).toEqual([]);
  await list.free();
  await expect.poll(() => said(list.page)).toEqual(['For the list']);

  // A page that takes over from another one announces only what has not been announced.
  const copy = await context.newPage();
  await copy.goto('/');
  await expect(copy).toHaveTitle(/^\(1\) /);
  await list.page.close();
  await ask('For the copy');
  await expect.poll(() => said(copy)).toEqual(['For the copy']);

  // Other pages do not even request the takeovers before they are elected.
  await copy.close();
  const scripts = await openUntold('/scripts');
  await ask('For the scripts');
  await scripts.free();
  await expect.poll(() => said(scripts.page)).toEqual(['For the scripts']);
  await context.close();
});
