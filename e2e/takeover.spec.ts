import { devices, expect, test, type Browser, type Page } from './test.js';
import { accessible, auth, codeOnPhone, explore, Fingers, hasPicture, newSession, Remote, signIn, signInByHand, type Places } from './remote.js';

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

/** The main use of the product: a script asks, a person helps with the link they were sent, and the script continues. */

async function placesOf(browser: Browser): Promise<Places> {
  const context = await browser.newContext();
  const places = await explore(await context.newPage());
  await context.close();
  return places;
}

/** Runs the sample script and returns the link from the inbox. */
async function askForHelp(page: Page): Promise<{ session: string; link: string }> {
  await signIn(page);
  const session = await newSession(page);
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('#banner')).toBeVisible({ timeout: 20_000 });
  await expect(page.locator('#banner')).toContainText('Sign in to the demo site');
  await expect(page.locator('#banner-note')).toContainText('The password is on the page.');
  await expect(page.locator('#banner-clock')).toHaveText(/^[45]:\d\d$/);
  await expect(page.locator('#output-words')).toHaveText('Waiting for a person');

  const inbox = await page.context().newPage();
  await inbox.goto('/');
  await expect(inbox).toHaveTitle(/^\(\d+\)/); // requests of other tests may wait, too
  await expect(inbox.getByRole('heading', { name: 'Waiting for a person' })).toBeVisible();
  await inbox.locator(`[data-session="${session}"]`).getByText('Copy link').click();
  await expect(inbox.getByText('Link copied')).toBeVisible();
  const link = await inbox.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/\/takeover\/[^#]+#.{20,}/);
  await inbox.close();
  return { session, link };
}

/** Checks what the operator sees after the person has pressed Done. */
async function hasFinished(page: Page): Promise<void> {
  await expect(page.locator('#output-words')).toHaveText('Succeeded', { timeout: 20_000 });
  await expect(page.locator('[data-result]')).toHaveText('"Demo User"');
  await expect(page.locator('#output-body')).toContainText('A person helped for');
  await expect(page.locator('#output-waited')).toHaveText(/ of it waiting$/);
  const said = await page.locator('.output-line').allTextContents();
  const at = (text: string): number => said.findIndex((line) => line.includes(text));
  expect([at('goto('), at('fill('), at('Asked for a person'), at('A helper is working'), at('The person is done'), at('A person helped for')].every((place, i, all) => place >= 0 && (i === 0 || place > (all[i - 1] ?? 0))), said.join('\n')).toBe(true);
  expect(said.filter((line) => line.includes('A helper is working'))).toHaveLength(1);
  await expect(page.locator('#banner')).toBeHidden();
  await expect(page.locator('#control-words')).toHaveText('Nobody in control');

  const events = page.locator('#events-list');
  const search = page.getByLabel('Filter events by text');
  for (const text of ['Script started', 'GET 127.0.0.1', 'Takeover requested: Sign in to the demo site', 'a helper is working', 'A person in control', 'POST /demo/login', 'Takeover done', 'Script succeeded']) {
    await search.fill(text);
    await expect(events.locator('.event').first(), text).toContainText(text);
  }
  await search.fill('Takeover done');
  await events.locator('.event').first().click();
  await expect(page.locator('#events-detail')).toContainText('a person');
  await page.locator('#events-detail').getByRole('tab', { name: 'JSON' }).click();
  await expect(page.locator('#events-detail')).toContainText('"takeover_done"');
}

test('a person helps with the mouse', async ({ page, browser, request }) => {
  const places = await placesOf(browser);
  const { session, link } = await askForHelp(page);
  // A reloaded page knows how long the run has waited.
  await expect(page.locator('#control-words')).toHaveText('Waiting for a person');
  const waited = page.locator('#output-waited');
  await expect(waited).toHaveText(/^(?!0:00)\d:\d\d of it waiting$/);
  const before = await waited.textContent() ?? '';
  await page.reload();
  await hasPicture(page);
  await expect(page.locator('#output-body')).toContainText('Asked for a person');
  expect(((await waited.textContent()) ?? '') >= before).toBe(true);
  await expect(page.locator('#output-time')).toHaveText(/^0:\d\d$/);

  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const theirs = await context.newPage();
  await theirs.goto(link);
  await expect(theirs.getByRole('heading', { name: 'Sign in to the demo site' })).toBeVisible();
  expect(theirs.url(), 'the secret is no longer in the address').not.toContain('#');
  await hasPicture(theirs);
  await expect(theirs.locator('#control-words')).toHaveText('You are in control');
  await expect(page.locator('#control-words')).toHaveText('Another person is in control');

  await signInByHand(new Remote(theirs), places, () => codeOnPhone(request, session));
  await theirs.getByRole('button', { name: 'Done' }).click();
  await expect(theirs.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await expect(theirs.locator('#farewell')).toContainText('You can close this page.');
  await hasFinished(page);
  await context.close();
});

test('a person helps on a phone', async ({ page, browser, request }) => {
  const places = await placesOf(browser);
  const { session, link } = await askForHelp(page);

  const context = await browser.newContext({ ...devices['iPhone 13'], defaultBrowserType: undefined, viewport: { width: 390, height: 844 } } as object);
  const theirs = await context.newPage();
  const errors: string[] = [];
  theirs.on('pageerror', ({ message }) => errors.push(message));
  await theirs.goto(link);
  await hasPicture(theirs);
  await expect(theirs.getByText('This is a browser on another computer.')).toBeVisible();
  await expect(theirs.locator('#note')).toContainText('The password is on the page.');
  await expect(theirs.locator('#note')).toBeInViewport({ ratio: 1 });
  // On a phone held sideways, it has the room that is left.
  const upright = theirs.viewportSize() ?? { width: 1280, height: 720 };
  await theirs.setViewportSize({ width: 667, height: 375 });
  await expect(theirs.locator('#note')).toBeInViewport({ ratio: 1 });
  await theirs.setViewportSize(upright);
  await theirs.getByRole('button', { name: 'Details' }).click();
  await expect(theirs.locator('#note')).toBeHidden();
  await expect(theirs.getByText('This is a browser on another computer.'), 'the first touch removes it').toHaveCount(0);
  await accessible(theirs, 'takeover on a phone');
  await expect(theirs.locator('#control-words')).toHaveText('You are in control');
  // Nothing is wider than the window.
  expect(await theirs.evaluate(() => document.documentElement.scrollWidth)).toBe(390);

  // A page of 1280 pixels is too small there, so it opens on the form that waits: one press shows all of it, another zooms in.
  const width = async (): Promise<number> => (await theirs.locator('#frame').boundingBox())?.width ?? 0;
  await expect.poll(width).toBeGreaterThan(1_000);
  await theirs.getByRole('button', { name: 'Zoom out' }).click();
  expect(await width()).toBeLessThan(390);
  await theirs.getByRole('button', { name: 'Zoom in' }).click();
  expect(await width()).toBeGreaterThan(1_000);
  await theirs.getByRole('button', { name: 'Zoom out' }).click();

  const fingers = await Fingers.on(theirs);
  await fingers.pinch({ x: 640, y: 360 }, 3);
  await signInByHand(fingers, places, () => codeOnPhone(request, session));
  await theirs.getByRole('button', { name: 'Done' }).click();
  await expect(theirs.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  expect(errors).toEqual([]);
  await expect(theirs.locator('#farewell-what')).toBeVisible();
  await expect(theirs.locator('.toast')).toHaveCount(0);
  await hasFinished(page);
  await context.close();
});

test('a person says why they cannot', async ({ page, browser }) => {
  const { link } = await askForHelp(page);
  const context = await browser.newContext();
  const theirs = await context.newPage();
  await theirs.goto(link);
  await hasPicture(theirs);
  await theirs.getByRole('button', { name: 'I can’t' }).click();
  await theirs.getByRole('button', { name: 'I do not have this login' }).click();
  await expect(theirs.getByRole('heading', { name: 'Thank you for letting us know' })).toBeVisible();

  await expect(page.locator('#output-words')).toHaveText('Failed', { timeout: 20_000 });
  await expect(page.locator('[data-error]')).toContainText('I do not have this login.');
  await page.locator('[data-error] .position').first().click();
  await expect(page.locator('#editor')).toContainText('requestTakeover');
  await context.close();
});

test('an operator helps on the session page itself', async ({ page, browser, request }) => {
  const places = await placesOf(browser);
  const { session } = await askForHelp(page);
  await page.locator('#banner').getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await signInByHand(new Remote(page), places, () => codeOnPhone(request, session));
  await page.locator('#banner').getByRole('button', { name: 'Done', exact: true }).click();
  await hasFinished(page);
});

test('only who works says that it is done', async ({ browser, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const { url } = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Look at it' } })).json();
  const visit = async (): Promise<Page> => {
    const theirs = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
    await theirs.goto(url);
    await hasPicture(theirs);
    return theirs;
  };
  const worker = await visit();
  await expect(worker.locator('#control-words')).toHaveText('You are in control');
  const other = await visit();
  await expect(other.locator('#errand-busy')).toContainText('Another person is working on this');
  await expect(other.getByRole('button', { name: 'Done' })).toBeHidden();
  await accessible(other, 'a takeover that another person works on');
  // A page of another site gets no access.
  const status = await other.evaluate(async (path) => (await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' })).status, `/v1/sessions/${id}/takeovers/${url.split('/').pop().split('#')[0]}/done`);
  expect(status).toBe(409);

  // To get control, the person must ask for it.
  await other.getByRole('button', { name: 'Ask for control' }).click();
  await worker.getByRole('button', { name: 'Hand over' }).click();
  await expect(other.getByRole('button', { name: 'Done' })).toBeVisible();
  await expect(worker.getByRole('button', { name: 'Done' })).toBeHidden();
  await other.getByRole('button', { name: 'Done' }).click();
  await expect(other.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await expect(worker.locator('#farewell')).toBeVisible();
  await worker.context().close();
  await other.context().close();
});
