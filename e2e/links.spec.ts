import { expect, test } from './test.js';
import { accessible, auth, hasPicture, newSession, signIn } from './remote.js';

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
