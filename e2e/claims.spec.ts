import { expect, test, type APIRequestContext, type Page } from './test.js';
import { auth, hasPicture, signIn } from './remote.js';

/** What happens to a takeover whose person reloads or leaves the page. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

interface Asked { session: string; id: string; url: string }

async function ask(request: APIRequestContext): Promise<Asked> {
  const { id: session } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const { id, url } = await (await request.post(`/v1/sessions/${session}/takeovers`, { headers: auth(), data: { reason: 'Enter the code' } })).json();
  return { session, id, url };
}

const takeover = async (request: APIRequestContext, { session, id }: Asked): Promise<{ state: string; claimedBy: string }> =>
  (await request.get(`/v1/sessions/${session}/takeovers/${id}`, { headers: auth() })).json();

const inControl = (page: Page): Promise<void> => expect(page.locator('#control-words')).toHaveText('You are in control');

test('a person who reloads the page in the middle goes on where they were', async ({ page, browser, request }) => {
  const asked = await ask(request);
  await signIn(page);
  await page.goto(`/sessions/${asked.session}`);
  await hasPicture(page);
  await page.locator('#banner').getByRole('button', { name: 'Take control' }).click();
  await inControl(page);
  const { claimedBy } = await takeover(request, asked);
  await page.reload();
  await inControl(page);
  await expect(page.locator('#banner-lead')).toHaveText('You are helping with:');
  expect(await takeover(request, asked)).toMatchObject({ state: 'claimed', claimedBy });
  // A second page of the same person, opened from the first, does not take its place.
  const [copy] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => void window.open(location.href))]);
  await hasPicture(copy);
  await expect(copy.locator('#control-words')).toHaveText('Another person is in control');
  await inControl(page);
  await page.close();
  await copy.close();

  const guest = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  await guest.goto(asked.url);
  await inControl(guest);
  const by = (await takeover(request, asked)).claimedBy;
  await guest.reload();
  await inControl(guest);
  expect((await takeover(request, asked)).claimedBy).toBe(by);
  await guest.context().close();
});

test('a person who claimed a takeover and left it: the others are asked again', async ({ page, browser, request }) => {
  const asked = await ask(request);
  await page.addInitScript(() => {
    class Noted extends EventTarget {
      static permission = 'granted';
      constructor(title: string, { body }: { body: string }) {
        super();
        (window as { said?: string[] }).said = [...((window as { said?: string[] }).said ?? []), `${title}: ${body}`];
      }
    }
    Object.assign(window, { Notification: Noted });
    localStorage.setItem('takeover.notify', 'on');
  });
  await signIn(page);
  const row = page.locator('.waiting', { hasText: 'Enter the code' });
  await expect(row).toBeVisible();
  const helper = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  await helper.goto(asked.url);
  await inControl(helper);
  await expect(row).toContainText('a helper is working');
  const other = await (await browser.newContext({ viewport: { width: 320, height: 568 } })).newPage();
  await other.goto(asked.url);
  const control = other.locator('#control-button');
  await expect(control).toHaveText('Ask for control');
  await expect(control).toBeInViewport({ ratio: 1 });
  await helper.context().close();
  await expect(row).not.toContainText('a helper is working', { timeout: 30_000 });
  expect(await takeover(request, asked)).toMatchObject({ state: 'pending', claimedBy: '' });
  await expect.poll(() => page.evaluate(() => (window as { said?: string[] }).said ?? [])).toEqual(['Waiting for a person: Enter the code']);
  // Who waited is asked to begin, not to end what nobody did.
  await expect(control).toHaveText('Take control');
  await expect(control).toHaveClass(/person/);
  await expect(other.locator('#done')).not.toHaveClass(/primary/);
  await control.click();
  await inControl(other);
  await expect(other.locator('#done')).toHaveClass(/primary/);
});

test('the output of a run says that its helper left', async ({ browser, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: "await requestTakeover('Enter the code')" } });
  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
    await signIn(page);
    await page.goto(`/sessions/${id}`);
    await hasPicture(page);
    return page;
  };
  const watcher = await open();
  const helper = await open();
  await helper.locator('#banner').getByRole('button', { name: 'Take control' }).click();
  await inControl(helper);
  await expect(watcher.locator('#output')).toContainText('A helper is working');
  await helper.context().close();
  await expect(watcher.locator('#output')).toContainText('The helper left without an answer', { timeout: 30_000 });
  await watcher.context().close();
});
