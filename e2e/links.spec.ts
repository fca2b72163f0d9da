import { expect, test } from './test.js';
import { accessible, auth, hasPicture, newSession, signIn } from './remote.js';
import type { APIRequestContext, Page } from './test.js';

/** Share links, from creating one to disconnecting its visitors. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('a link is created, used on a phone, listed with its use, and revoked', async ({ page, browser }) => {
  await signIn(page);
  await newSession(page);
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.locator('#share-links')).toContainText('No links yet');
  await page.getByLabel('Access').selectOption('control');
  await page.getByLabel('Uses').selectOption('1');
  await page.getByRole('button', { name: 'Create link' }).click();
  const row = page.locator('.share-row');
  await expect(row).toContainText('Watch and take control');
  await expect(row).toContainText('used 0 of 1 time');
  const made = page.getByLabel('Link', { exact: true });
  await expect(made).not.toHaveValue('');
  const link = await made.inputValue();
  const copy = row.getByRole('button', { name: 'Copy the link' });
  await expect(copy).toBeVisible();

  const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const guest = await phone.newPage();
  await guest.goto(link);
  await hasPicture(guest);
  expect(guest.url(), 'the secret leaves the address').not.toContain('#');
  expect(await guest.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await guest.getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('Another person is in control');

  // A used-up link keeps its visitor. Another visitor reads why it does not open.
  await expect(row).toContainText('used 1 of 1 time');
  await expect(row).toContainText('1 here now');
  await expect(copy, 'it opens for nobody else').toHaveCount(0);
  await expect(made).toBeHidden();
  await row.getByText('Uses', { exact: true }).click();
  await expect(row.locator('.share-visits li')).toContainText('127.0.0.0/24');
  await expect(row.locator('.share-visits li')).toContainText('here now');
  await accessible(page, 'share, with a use');
  const late = await (await browser.newContext()).newPage();
  await late.goto(link);
  await expect(late.locator('#locked-text')).toHaveText('This link has been used as often as it allows. Ask the person who sent it for a new one.');
  await late.context().close();

  await row.getByRole('button', { name: 'Revoke' }).click();
  await expect(guest.getByRole('heading', { name: 'You cannot see this session' })).toBeVisible();
  await expect(guest.locator('#overlay-text')).toHaveText('This link was revoked. Ask the person who sent you the link for a new one.');
  await expect(page.locator('#control-words')).toHaveText('Nobody in control');
  await expect(row).toContainText('Revoked');
  await guest.reload();
  await expect(guest.getByRole('heading', { name: 'This link no longer works' })).toBeVisible();
  await expect(guest.locator('#locked-text')).toContainText('This link was revoked.');
  await accessible(guest, 'revoked');
  await phone.close();
});

/** Creates a session that asks for a person, and returns the link. */
async function asked(request: APIRequestContext, reason: string, options: { session?: string } = {}): Promise<{ session: string; id: string; url: string }> {
  const session = options.session ?? (await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json()).id;
  const { id, url } = await (await request.post(`/v1/sessions/${session}/takeovers`, { headers: auth(), data: { reason } })).json();
  return { session, id, url };
}

async function opens(page: Page, { url }: { url: string }, reason: string): Promise<void> {
  await page.goto(url);
  await hasPicture(page);
  await expect(page.getByRole('heading', { name: reason })).toBeVisible();
  expect(page.url(), 'the secret leaves the address').not.toContain('#');
}

async function done(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible();
}

test('one browser opens the links of many takeovers', async ({ browser, request }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const first = await asked(request, 'First');
  const elsewhere = await asked(request, 'Elsewhere');
  await opens(page, first, 'First');

  // A link to another session, in a new tab. The first tab goes on.
  const tab = await context.newPage();
  await opens(tab, elsewhere, 'Elsewhere');
  await done(tab);
  await done(page);

  // The same session asks again, in the same tab.
  const second = await asked(request, 'Second', { session: first.session });
  await opens(page, second, 'Second');
  await page.reload();
  await hasPicture(page);
  await done(page);

  // A link that was opened before says how it ended, and hides its secret, too.
  await tab.goto(first.url);
  await expect(tab.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  expect(tab.url()).not.toContain('#');

  // A link without its secret opens nothing, and does not lock this browser out.
  const third = await asked(request, 'Third', { session: first.session });
  await page.goto(third.url.replace(/#.*/, ''));
  await expect(page.getByRole('heading', { name: 'This link is incomplete' })).toBeVisible();
  await opens(page, third, 'Third');
  await context.close();
});

test('after a link has expired or was revoked, the next one opens', async ({ browser, request }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const short = await asked(request, 'Short');
  const made = await request.post(`/v1/sessions/${short.session}/links`, { headers: auth(), data: { role: 'takeover', takeover: short.id, expiresIn: 3_000 } });
  await page.goto((await made.json()).url);
  await expect(page.getByRole('heading', { name: 'This link no longer works' }), 'it expires while it is open').toBeVisible();
  await expect(page.locator('#farewell-text')).toHaveText('This link has expired. Ask the person who sent you the link for a new one.');
  await page.reload();
  await expect(page.getByRole('heading', { name: 'This link no longer works' })).toBeVisible();
  await expect(page.locator('#locked-text')).toContainText('This link has expired.');

  const open = await asked(request, 'Open');
  await opens(page, open, 'Open');
  const { links } = await (await request.get(`/v1/sessions/${open.session}/links`, { headers: auth() })).json();
  await request.delete(`/v1/sessions/${open.session}/links/${links[0].id}`, { headers: auth() });
  await expect(page.getByRole('heading', { name: 'This link no longer works' })).toBeVisible();
  await expect(page.locator('#farewell-text')).toHaveText('This link was revoked. Ask the person who sent you the link for a new one.');
  await expect(page.locator('#takeover'), 'nothing of the takeover stays').toHaveCount(0);
  await accessible(page, 'revoked while open');

  await opens(page, await asked(request, 'Again'), 'Again');
  await context.close();
});
