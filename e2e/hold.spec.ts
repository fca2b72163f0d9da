import { expect, test } from './test.js';
import { accessible, auth, getCookie, hasPicture, newSession, signIn } from './remote.js';

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('an operator holds what programs do, by keys and by buttons', async ({ page, request }) => {
  await signIn(page);
  const id = await newSession(page);
  const held = page.locator('#held');
  await page.locator('#keys').focus();
  await expect(page.locator('#keys-enter')).toContainText('to hold what programs do');
  await page.keyboard.press('Space');
  await expect(held).toBeVisible();
  await expect(page.locator('#control-words')).toHaveText('Programs are held');
  await expect(held).toContainText('They may still read the page. The next action waits.');

  const code = `await page.setContent('<input><button>Send</button><p></p>');
    await page.fill('input', 'one');
    await page.getByRole('button', { name: 'Send' }).click();
    return page.inputValue('input')`;
  const { id: run } = await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code } })).json();
  await expect(held).toContainText('Script: setContent');
  await page.keyboard.press('ArrowRight');
  await expect(held).toContainText('Script: fill');
  await expect(page.locator('#held-target')).toHaveText("locator('input')");
  const place = page.locator('#held-place');
  await expect(place).toBeVisible();
  const [around, glass] = [(await place.boundingBox())!, (await page.locator('#screen').boundingBox())!];
  const scale = glass.width / Number(await page.locator('#stage').getAttribute('data-width'));
  expect(Math.abs(around.x + 4 - glass.x - 8 * scale), 'the left edge of the field').toBeLessThan(3);
  expect(around.y).toBeLessThan(glass.y + 40 * scale);
  await accessible(page, 'programs are held');
  await page.locator('#held-pass').click();
  await expect(held).toContainText('Script: click');
  await page.keyboard.press('Shift'); // a press would have meant to type
  await page.locator('#keys').focus();
  await page.keyboard.press('Escape');
  const ended = async () => (await (await request.get(`/v1/sessions/${id}/runs/${run}`, { headers: auth() })).json()) as { status: string; error?: { message: string } };
  await expect.poll(async () => (await ended()).status).toBe('failed');
  expect((await ended()).error?.message).toContain('has ended this action');
  await page.keyboard.press('Space');
  await expect(held).toBeHidden();
  await expect(place).toBeHidden();
  await expect(page.locator('#events-list')).toContainText('Programs are held');
});

test('programs go on when nobody is left who holds them; a watcher sees that they are held', async ({ page, browser, request }) => {
  await signIn(page);
  const id = await newSession(page);
  const { url } = await (await request.post(`/v1/sessions/${id}/links`, { headers: auth(), data: { role: 'view' } })).json();
  const context = await browser.newContext();
  const watcher = await context.newPage();
  await watcher.goto(url);
  await hasPicture(watcher);
  await expect(watcher.locator('#hold-button')).toBeHidden();
  await page.locator('#hold-button').click();
  await expect(watcher.locator('#held')).toBeVisible();
  await expect(watcher.locator('#held-go')).toBeHidden();
  await page.goto('/');
  await expect(watcher.locator('#held'), 'after the grace of this server').toBeHidden({ timeout: 30_000 });
  await context.close();

  // A phone has it in the menu.
  const small = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const phone = await small.newPage();
  await getCookie(phone);
  await phone.goto(`/sessions/${id}`);
  await hasPicture(phone);
  await phone.getByRole('button', { name: 'More' }).tap();
  await phone.getByRole('button', { name: 'Hold programs' }).tap();
  await expect(phone.locator('#held')).toBeInViewport();
  await phone.locator('#held-go').tap();
  await expect(phone.locator('#held')).toBeHidden();
  await small.close();
});
