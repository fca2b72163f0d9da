import { expect, test, type Locator, type Page } from './test.js';
import { accessible, auth, signIn } from './remote.js';

/** The list of sessions: what it shows and is told, its filter, and the menus of its rows. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

/** The live sessions of the list. */
function liveRows(page: Page): Locator {
  return page.locator('section[data-key=live] .row');
}

test('the sessions page teaches when it is empty, and follows what happens', async ({ page, request }) => {
  await signIn(page);
  await expect(page.getByText('No browser is running')).toBeVisible();
  await accessible(page, 'sessions, empty');

  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await expect(liveRows(page)).toHaveCount(1);
  await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Look at <b>this</b>' } });
  await expect(page.getByRole('heading', { name: 'Look at <b>this</b>' })).toBeVisible();
  await expect(page).toHaveTitle(/^\(1\) /);
  await expect(liveRows(page), 'nothing is there twice').toHaveCount(0);
  await accessible(page, 'sessions');

  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await expect(page.getByRole('heading', { name: 'Waiting for a person' })).toBeHidden();
  await expect(page.locator('.row').filter({ hasText: 'No script ran' }).first()).toBeVisible();
  await expect(page).toHaveTitle(/^Sessions/);
});

test('the list follows changes, filters, and says when the server is away', async ({ page, request, context }) => {
  await signIn(page);
  let asked = 0;
  page.on('request', (r) => new URL(r.url()).pathname === '/' && asked++);
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await expect(liveRows(page)).toHaveCount(1);
  expect(asked, 'the page was drawn again because it was told to').toBeGreaterThan(0);
  await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Look at this' } });
  await expect(page.locator('.waiting')).toBeVisible();
  const search = page.getByRole('searchbox', { name: 'Filter by page, address or id' });
  await search.fill(`LOOK ${id.slice(0, 8)}`);
  await expect(page.locator('.waiting')).toBeVisible();
  const chip = (name: string): Locator => page.getByRole('group', { name: 'Show' }).getByRole('button', { name: new RegExp(`^${name}`) });
  await search.fill('unheard of');
  await expect(page.getByText('No session matches “unheard of”.')).toBeVisible();
  for (const state of ['Waiting', 'Live', 'Ended', 'Failed']) await expect(chip(state), 'counted within the text').toHaveText(`${state}0`);
  await expect(page, 'the title counts all that wait').toHaveTitle(/^\(1\) /);
  await page.reload();
  await expect(page.getByText('No session matches “unheard of”.')).toBeVisible();
  await expect(chip('Live')).toHaveText('Live0');
  await accessible(page, 'sessions, none found');
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(page).toHaveURL('/');
  await expect(chip('Live')).toHaveText('Live1');
  await expect(chip('Waiting')).toHaveText('Waiting1');
  // The bar counts them on each page of the browser, although one page alone follows the server.
  const other = await context.newPage();
  await other.goto('/settings');
  const count = other.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Takeovers/ });
  await expect(count).toHaveAccessibleName('Takeovers, 1 waiting');
  await chip('Ended').click();
  await expect(page.locator('.waiting')).toBeHidden();
  await chip('Live').click();
  await expect(page.locator('.waiting'), 'what waits is live, too').toBeVisible();
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await expect(page.locator('.waiting')).toHaveCount(0);
  await expect(count).toHaveAccessibleName('Takeovers');
  await other.close();
  await chip('All').click();
  await context.setOffline(true);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await expect(page.getByText('The server cannot be reached.')).toBeVisible();
  await context.setOffline(false);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await expect(page.getByText('The server cannot be reached.')).toBeHidden();
});

test('the menu of a row stays in the window while the list changes', async ({ page, request }) => {
  const create = () => request.post('/v1/sessions', { headers: auth(), data: {} });
  for (let i = 0; i < 3; i++) await create();
  await signIn(page);
  await expect(liveRows(page)).toHaveCount(3);
  const button = liveRows(page).last().locator('[data-menu]');
  await page.setViewportSize({ width: 1024, height: 440 });
  const { y = 0, height = 0 } = (await button.boundingBox()) ?? {};
  const innerHeight = Math.ceil(y + height) + 70; // one more row has room
  await page.setViewportSize({ width: 1024, height: innerHeight });
  await button.click();
  const menu = liveRows(page).last().locator('.menu');
  const inWindow = async () => {
    const box = (await menu.boundingBox()) ?? { y: -1, height: 0 };
    return box.y >= 0 && box.y + box.height <= innerHeight;
  };
  expect(await inWindow()).toBe(true);
  await create();
  await expect(liveRows(page)).toHaveCount(4);
  await expect.poll(async () => (await button.boundingBox())?.y, 'the row has moved').toBeGreaterThan(y + 40);
  await expect.poll(inWindow, 'and its menu with it').toBe(true);
  await create();
  await expect(menu, 'a row that left the window has closed its menu').toBeHidden();
  await expect(button).toHaveAttribute('aria-expanded', 'false');
  // A row that goes takes its menu along.
  const first = liveRows(page).first();
  await first.locator('[data-menu]').click();
  const id = await first.getAttribute('data-key');
  await expect(first.locator('.menu')).toBeVisible();
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await expect(page.locator('section[data-key=ended] .row').filter({ has: page.locator(`#menu-${id}`) })).toHaveCount(1);
  await expect(page.locator('.row .menu:visible')).toHaveCount(0);
});

test('the row of filters says on a phone that more follows', async ({ browser, request }) => {
  await request.post('/v1/sessions', { headers: auth(), data: {} });
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await signIn(page);
  const bar = page.locator('.filter-bar');
  const mark = () => bar.evaluate((element) => Number(getComputedStyle(element, '::after').opacity));
  await expect.poll(mark).toBe(1);
  await bar.evaluate((element) => element.scrollTo({ left: element.scrollWidth }));
  await expect.poll(mark, 'at the end').toBe(0);
  expect(await bar.evaluate((element) => {
    const last = [...element.querySelectorAll('button, select')].filter((one) => one.checkVisibility()).at(-1)?.getBoundingClientRect();
    return Math.round((last?.right ?? 0) - element.getBoundingClientRect().right);
  }), 'the mark takes no room').toBeGreaterThanOrEqual(-4);
  await context.close();
});

test('the list says what failed, and its filter stands in the address', async ({ page, request, baseURL }) => {
  for (const [filename, code] of [['good.ts', 'return 1'], ['bad.ts', "throw new Error('the button is gone')"]]) {
    const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login` } })).json();
    await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, filename, wait: true } });
    await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  }
  await signIn(page);
  const rows = page.locator('section[data-key=ended] .row:visible');
  await expect(rows.nth(0)).toContainText('bad.ts');
  await expect(rows.nth(0)).toContainText('Failed');
  await expect(rows.nth(0)).toContainText('the button is gone');
  await expect(rows.nth(0)).toContainText('/demo/login');
  expect(await rows.nth(0).locator('.row-state .meta').evaluate((reason) => reason.scrollWidth - reason.clientWidth), 'the reason has room').toBe(0);
  await expect(rows.nth(1)).toContainText('Succeeded');
  await accessible(page, 'sessions, ended');

  const chip = (name: string): Locator => page.getByRole('group', { name: 'Show' }).getByRole('button', { name: new RegExp(`^${name}`) });
  const count = page.locator('#ended-title .count');
  const whole = await count.textContent(); // "52", or "50 of 52" where the list has more than it shows
  const total = await count.getAttribute('data-total');
  await chip('Failed').click();
  await expect(page).toHaveURL('/?state=failed');
  await expect(rows.filter({ hasText: 'Succeeded' })).toHaveCount(0);
  await expect(count).toHaveText(`${await rows.count()} of ${total}`);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('button gone');
  await expect(page).toHaveURL('/?q=button+gone&state=failed');
  await expect(rows).toHaveCount(1);

  // The address contains the whole filter: for a reload, for another person, and for the back button.
  await page.reload();
  await expect(chip('Failed')).toHaveAttribute('aria-pressed', 'true');
  await expect(rows).toHaveCount(1);
  await rows.getByRole('link').click();
  await expect(page.locator('.outcome')).toHaveText('Failed');
  await page.goBack();
  await expect(rows).toHaveCount(1);
  await page.goBack();
  await expect(page).toHaveURL('/');
  await expect(chip('All')).toHaveAttribute('aria-pressed', 'true');
  await expect(count).toHaveText(whole ?? '');

  // By script and time, too.
  await page.getByRole('combobox', { name: 'Script' }).selectOption('good.ts');
  await expect(rows.filter({ hasText: 'bad.ts' })).toHaveCount(0);
  const ofGood = Number(/good\.ts \((\d+)\)/.exec(await page.getByRole('combobox', { name: 'Script' }).innerText())?.[1]);
  await expect(rows.filter({ hasText: 'good.ts' })).toHaveCount(ofGood);
  await expect(page.getByRole('combobox', { name: 'Time' }).locator('option[value=hour]')).toHaveText(/^Last hour \(\d+\)$/);
  await page.getByRole('combobox', { name: 'Time' }).selectOption('hour');
  await expect(page).toHaveURL('/?script=good.ts&since=hour');
  await expect(rows.first()).toContainText('good.ts');
  await page.reload();
  await expect(page.getByRole('combobox', { name: 'Script' })).toHaveValue('good.ts');
  await expect(page.getByRole('combobox', { name: 'Time' })).toHaveValue('hour');
  await page.goBack();
  await expect(page).toHaveURL('/?script=good.ts');
  await expect(page.getByRole('combobox', { name: 'Time' })).toHaveValue('');
  await page.getByRole('searchbox', { name: 'Filter' }).fill('no such session');
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(page).toHaveURL('/');
  await expect(count).toHaveText(whole ?? '');
});

test('an ended session is deleted from the list, after a question', async ({ page, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await signIn(page);
  const row = page.locator(`.row[data-key="${id}"]`);
  const ask = async (): Promise<void> => {
    await row.getByRole('button', { name: /^More about/ }).click();
    await row.getByRole('button', { name: 'Delete…' }).click();
  };
  const dialog = page.getByRole('dialog', { name: 'Delete this session?' });
  await ask();
  await accessible(page, 'sessions, deleting one');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(row).toBeVisible();
  await ask();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(row).toHaveCount(0);
  await expect(dialog).toBeHidden();
  expect((await request.get(`/v1/sessions/${id}`, { headers: auth() })).status()).toBe(404);
});

test('the palette shows a whole request on a phone', async ({ page, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const reason = 'Please sign in: the code comes to the phone of the office.';
  await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason } });
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page);
  await page.keyboard.press('ControlOrMeta+k');
  const title = page.getByRole('option', { name: reason }).locator('span').first();
  await expect(title).toHaveText(reason);
  expect(await title.evaluate((text) => text.scrollHeight <= text.clientHeight && text.scrollWidth <= text.clientWidth), 'nothing of it is cut').toBe(true);
});
