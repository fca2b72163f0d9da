import { expect, test } from './test.js';
import { auth, hasPicture, signIn } from './remote.js';

/** The words that people read. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

/** Words that no page of an operator shows any more. */
const RETIRED = [/Needs a person/, /asked by a script/i, /somebody is on it/i, /\bInteractions\b/, /\bUnsaved\b/, /viewer joined/i, /whole number/i];

test('no page of an operator shows a word that was given up', async ({ page, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { capture: true } })).json();
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: 'await requestTakeover("Enter the code")' } });
  await signIn(page);
  await expect(page.locator('.waiting')).toContainText('Enter the code');
  const shows = async (where: string): Promise<void> => {
    const text = await page.locator('body').innerText();
    for (const word of RETIRED) expect.soft(word.exec(text)?.[0], where).toBeUndefined();
  };
  for (const address of ['/', '/takeovers', '/scripts', '/profiles', '/trajectories', '/settings', '/docs', '/docs/takeovers']) {
    await page.goto(address);
    await expect(page.locator('main')).toBeVisible();
    await shows(address);
  }
  await page.goto(`/sessions/${id}`);
  await expect(page.locator('#banner')).toBeVisible();
  await expect(page.locator('#banner')).not.toContainText(/I can[’']t/);
  for (const tab of await page.getByRole('tab').all()) {
    if (!(await tab.isVisible())) continue;
    await tab.click();
    await shows(`a session, ${await tab.innerText()}`);
  }
  await shows('a session');
});

test('who ended a session is said', async ({ page, request }) => {
  const create = async (): Promise<string> => (await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json()).id;
  const [byProgram, byPerson] = [await create(), await create()];
  await signIn(page);
  await request.post(`/v1/sessions/${byProgram}/release`, { headers: auth() });
  await page.goto(`/sessions/${byProgram}`);
  await expect(page.locator('main')).toContainText('Ended by a program');
  await page.goto(`/sessions/${byPerson}`);
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
  await expect(page).toHaveURL('/');
  await page.goto(`/sessions/${byPerson}`);
  await expect(page.locator('main')).toContainText('Ended by a person');
});

test('who comes, what a script does and how it ended has one word each', async ({ page, browser, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { capture: true } })).json();
  await signIn(page);
  await page.goto(`/sessions/${id}`);
  await hasPicture(page);
  await expect(page.locator('#script-name')).toHaveText('Untitled script');
  await expect(page.locator('[data-filter=control]')).toHaveText(/^Who controls/);
  const { url } = await (await request.post(`/v1/sessions/${id}/links`, { headers: auth(), data: { role: 'takeover' } })).json();
  const helper = await (await browser.newContext()).newPage();
  await helper.goto(url);
  const events = page.locator('#events-list');
  await page.locator('[data-filter=control]').click();
  for (const words of ['Operator joined', 'Helper joined']) await expect(events.locator('.event', { hasText: words }).first()).toBeVisible();
  await helper.context().close();
  await expect(events.locator('.event', { hasText: 'Helper left' })).toBeVisible();
  const { id: run } = await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: 'await page.waitForTimeout(600_000)', filename: 'long.ts' } })).json();
  await expect(events.locator('.event', { hasText: 'Script started' })).toBeVisible();
  await request.post(`/v1/sessions/${id}/runs/${run}/cancel`, { headers: auth(), data: {} });
  await expect(page.locator('#output-words')).toHaveText('Stopped');
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await page.goto(`/sessions/${id}`);
  await expect(page.locator('.outcome')).toHaveText('Stopped');
});
