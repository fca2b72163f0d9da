import { expect, test } from './test.js';
import { accessible, auth, hasPicture, newSession, signIn } from './remote.js';

/** Share links, from making one to sending away who came by it. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('a link is made, used on a phone, listed with its use, and withdrawn', async ({ page, browser }) => {
  await signIn(page);
  await newSession(page);
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.locator('#share-links')).toContainText('No links yet');
  await page.getByLabel('They can').selectOption('control');
  await page.getByLabel('Opens').selectOption('1');
  await page.getByRole('button', { name: 'Make a link' }).click();
  const row = page.locator('.share-row');
  await expect(row).toContainText('Watch and take control');
  await expect(row).toContainText('not used, once');
  const made = page.getByLabel('Link', { exact: true });
  await expect(made).not.toHaveValue('');
  const link = await made.inputValue();

  const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const guest = await phone.newPage();
  await guest.goto(link);
  await hasPicture(guest);
  expect(guest.url(), 'the secret leaves the address').not.toContain('#');
  expect(await guest.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await guest.getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('Another person is in control');

  // Used up, and who came by it stays; another one is told why it does not open.
  await expect(row).toContainText('used 1 of once');
  await expect(row).toContainText('1 here now');
  await row.getByText('Uses', { exact: true }).click();
  await expect(row.locator('.share-visits li')).toContainText('127.0.0.0/24');
  await expect(row.locator('.share-visits li')).toContainText('here now');
  await accessible(page, 'share, with a use');
  const late = await (await browser.newContext()).newPage();
  await late.goto(link);
  await expect(late.locator('#locked-text')).toHaveText('This link was used as often as it allows. Whoever sent it to you can make a new one.');
  await late.context().close();

  await row.getByRole('button', { name: 'Withdraw' }).click();
  await expect(guest.getByRole('heading', { name: 'You cannot see this session' })).toBeVisible();
  await expect(guest.locator('#overlay-text')).toHaveText('This link was withdrawn. Ask whoever sent you the link for a new one.');
  await expect(page.locator('#control-words')).toHaveText('Nobody in control');
  await expect(row).toContainText('Withdrawn');
  await guest.reload();
  await expect(guest.getByRole('heading', { name: 'This link no longer works' })).toBeVisible();
  await expect(guest.locator('#locked-text')).toContainText('This link was withdrawn.');
  await accessible(guest, 'withdrawn');
  await phone.close();
});
