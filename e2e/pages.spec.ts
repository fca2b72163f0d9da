import { expect, test } from './test.js';
import { readdirSync, readFileSync } from 'node:fs';
import { accessible, auth, hasPicture, key, newSession, Remote, run, signIn } from './remote.js';

/** Each page by itself: what it shows, what it refuses, and that everybody can use it. */

test.use({ editor: true }); // its accessibility checks are of the page as most people have it

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('signing in, with a wrong key and the right one', async ({ page }) => {
  await page.goto('/login');
  await accessible(page, 'login');
  await page.getByLabel('API key').fill('not-the-key');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toContainText('not correct');
  await accessible(page, 'login, refused');
  await page.getByLabel('API key').fill(key());
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Sessions' })).toBeVisible();
  await page.getByRole('button', { name: 'Account', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
});

test('a session warns before it ends, takes more time, and leads to a new one', async ({ page, request, baseURL }) => {
  const create = async (timeout: number): Promise<string> => (await (await request.post('/v1/sessions', { headers: auth(), data: { timeout, url: `${baseURL}/demo/login` } })).json()).id;
  const session = await create(115_000); // 2 min would be too much for a warning
  await signIn(page);
  await expect(page.locator('section[data-key=live] .row')).toContainText('1 min left');
  await page.goto(`/sessions/${session}`);
  await hasPicture(page);
  const warning = page.getByRole('region', { name: 'Time left' });
  await expect(warning).toContainText(/This session ends in [01]:\d\d\./);
  await accessible(page, 'session, with little time left');
  await warning.getByRole('button', { name: '+30 min' }).click();
  await expect(warning).toBeHidden();
  await expect(page.locator('#time-left')).toHaveText(/^3[01] min left$/);
  // In a narrow window there is no room beside the connection, so it is below the title.
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.locator('#time-left')).toBeHidden();
  await expect(page.locator('#time-left-below')).toBeVisible();
  await expect(page.locator('#time-left-below')).toHaveText(/^3[01] min left$/);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await accessible(page, 'session on a phone, with time left');
  await page.setViewportSize({ width: 320, height: 568 });
  const left = (await page.locator('#time-left-below').boundingBox())!;
  const dot = (await page.locator('#connection .shape').boundingBox())!;
  expect(dot.x - (left.x + left.width), 'they do not touch').toBeGreaterThanOrEqual(4);
  await page.setViewportSize({ width: 1280, height: 720 });
  await expect(page.locator('#time-left-below')).toBeHidden();
  const { timeout } = await (await request.get(`/v1/sessions/${session}`, { headers: auth() })).json();
  expect(timeout).toBe(115_000 + 30 * 60_000);

  // A session whose time is up ends, and a new one continues with its page and its script.
  await run(page, 'return 40 + 2');
  await expect(page.locator('[data-result]')).toHaveText('42');
  await request.patch(`/v1/sessions/${session}`, { headers: auth(), data: { timeout: 1_000 } });
  await expect(page.getByRole('heading', { name: 'Time is up' })).toBeVisible();
  await expect(warning).toBeHidden();
  await page.getByRole('button', { name: 'New session with this page and script' }).click();
  await page.waitForURL((url) => url.pathname.startsWith('/sessions/') && !url.pathname.endsWith(session));
  await hasPicture(page);
  await expect(page.locator('#address')).toHaveValue(`${baseURL}/demo/login`);
  await expect(page.locator('#editor')).toContainText('return 40 + 2');
});

test('a session with options starts where it should', async ({ page, baseURL }) => {
  await signIn(page);
  await page.getByRole('button', { name: 'Options' }).click();
  await page.getByLabel('Address to open').fill(`${baseURL}/demo/login`);
  await page.getByLabel('Device').selectOption('1024x768');
  await page.getByLabel('Width').fill('9');
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByLabel('Width')).toHaveAccessibleDescription(/must be/i);
  await expect(page.getByLabel('Width')).toBeFocused();
  await page.getByLabel('Width').fill('1024');
  await accessible(page, 'options');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL('**/sessions/*');
  await hasPicture(page);
  await expect(page.getByLabel('Address of the remote page')).toHaveValue(/\/demo\/login$/);
  await expect(async () => {
    const box = await page.locator('#frame').boundingBox();
    expect((box?.width ?? 0) / (box?.height ?? 1)).toBeCloseTo(1024 / 768, 1);
  }).toPass();
});

test('using the page takes control, and the keyboard types there', async ({ page, baseURL, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await signIn(page);
  await newSession(page);
  const address = page.getByLabel('Address of the remote page');
  await address.fill(`${baseURL}/demo/login`);
  await address.press('Enter');
  await expect(page.locator('#session-title')).toHaveText('Sign in · Demo');
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await expect(page.locator('#stage-area')).toHaveAttribute('data-party', 'me');

  // A script reads what was typed, as soon as it may.
  const remote = new Remote(page);
  await remote.click({ x: 640, y: 310 });
  await page.keyboard.type('One+Test@Example.com');
  await page.keyboard.press('Home');
  await page.keyboard.press('Delete');
  await page.keyboard.type('Ö');
  // Text that an input method commits, and text that is pasted.
  await page.keyboard.press('End');
  await page.keyboard.insertText('日本😀');
  await page.evaluate(() => navigator.clipboard.writeText('-pasted'));
  await page.keyboard.press('ControlOrMeta+V');
  await page.getByRole('button', { name: 'Give back' }).click();
  await expect(page.locator('#control-words')).toHaveText('Nobody in control');
  await run(page, `return await page.locator('#email').inputValue()`);
  await expect(page.locator('[data-result]')).toHaveText('"Öne+Test@Example.com日本😀-pasted"');
});

test('a second viewer sees who is in control and cannot act', async ({ page, browser, request }) => {
  await signIn(page);
  const session = await newSession(page);
  await page.getByRole('button', { name: 'Share' }).click();
  await accessible(page, 'share');
  await page.getByRole('button', { name: 'Create link' }).click();
  const made = page.getByLabel('Link', { exact: true });
  await expect(made).toHaveValue(/\/sessions\/[^#]+#.{20,}/);
  const link = await made.inputValue();
  await page.getByRole('button', { name: 'Close' }).first().click();

  const context = await browser.newContext();
  const guest = await context.newPage();
  await guest.goto(link);
  await hasPicture(guest);
  await expect(guest.locator('#control-button')).toBeHidden();
  await expect(guest.locator('#side')).toHaveCount(0);
  await expect(guest.getByRole('button', { name: 'End' })).toHaveCount(0);
  await accessible(guest, 'guest');

  const takeovers = `/v1/sessions/${session}/takeovers`;
  const asked = await (await request.post(takeovers, { headers: auth(), data: { reason: 'Enter the code' } })).json();
  await expect(page.locator('#banner-lead')).toHaveText('Waiting for you:');
  await expect(guest.locator('#banner-lead'), 'a guest who may only watch is not asked').toHaveText('Waiting for a person:');
  await request.post(`${takeovers}/${asked.id}/cancel`, { headers: auth(), data: {} });
  await expect(page.locator('#banner')).toBeHidden();

  await page.getByRole('button', { name: 'Take control' }).click();
  await expect(guest.locator('#control-words')).toHaveText('Another person is in control');
  await new Remote(guest).click({ x: 300, y: 300 });
  await expect(page.locator('#control-words')).toHaveText('You are in control');

  await request.post(`/v1/sessions/${session}/release`, { headers: auth(), data: {} });
  await expect(guest.getByRole('heading', { name: 'This session has ended' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'This session has ended' })).toBeVisible();
  await accessible(page, 'session, ended');
  await page.reload();
  await expect(page.locator('.outcome')).toHaveText('Ended');
  await expect(page.getByText('No script ran in this session.')).toBeVisible();
  await accessible(page, 'ended');
  await context.close();
});

test('two people pass control between them', async ({ page, browser, baseURL }) => {
  await signIn(page);
  await newSession(page);
  const context = await browser.newContext({ baseURL });
  const other = await context.newPage();
  await signIn(other);
  await other.goto(page.url());
  await hasPicture(other);
  const asks = page.getByRole('alert', { name: 'Request for control' });

  await page.getByRole('button', { name: 'Take control' }).click();
  const ask = other.getByRole('button', { name: 'Ask for control' });
  await ask.click();
  await expect(other.getByRole('button', { name: /^Requested \(\d+ s\)$/ })).toBeDisabled();
  await expect(asks).toContainText(/They get it in \d+ s/);
  await accessible(page, 'asked for control');
  await page.getByRole('button', { name: 'Keep control' }).click();
  await expect(asks).toBeHidden();
  await expect(other.getByText('The person in control keeps it for now')).toBeVisible();
  await expect(page.locator('#control-words')).toHaveText('You are in control');

  // Another person asks, and gets control at once. Control comes back after a wait.
  await page.getByRole('button', { name: 'Give back' }).click();
  await other.getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('Another person is in control');
  await page.getByRole('button', { name: 'Ask for control' }).click();
  await other.getByRole('button', { name: 'Hand over' }).click();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await context.close();
});

test('a link without its secret, and one that was revoked', async ({ page, request, baseURL, browser }) => {
  await page.goto('/takeover/to_unknown');
  await expect(page.getByRole('heading', { name: 'This link is incomplete' })).toBeVisible();
  await accessible(page, 'locked');

  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const made = await (await request.post(`/v1/sessions/${id}/links`, { headers: auth(), data: { role: 'view' } })).json();
  await request.delete(`/v1/sessions/${id}/links/${made.id}`, { headers: auth() });
  const context = await browser.newContext();
  const guest = await context.newPage();
  await guest.goto(made.url.replace(/^https?:\/\/[^/]+/, baseURL));
  await expect(guest.getByRole('heading', { name: 'This link no longer works' })).toBeVisible();
  await context.close();
});

test('errors lead to their line, and output is shown as it is', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  await run(page, `console.log('<img src=x onerror=alert(1)>');\nconsole.error('oh');\n\nthrow new Error('broken <b>here</b>');`);
  await expect(page.locator('#output-words')).toHaveText('Failed');
  await expect(page.locator('#output-body')).toContainText('<img src=x onerror=alert(1)>');
  await expect(page.locator('[data-error]')).toContainText('broken <b>here</b>');
  await expect(page.locator('#output-body img, #output-body b')).toHaveCount(0);
  await expect(page.locator('.line-error')).toBeVisible();
  await page.locator('[data-error]').getByRole('button', { name: 'line 4' }).click();
  await expect(page.locator('.monaco-editor')).toHaveClass(/focused/);
  await accessible(page, 'session, with output');
  await page.getByRole('tab', { name: 'Runs' }).click();
  await expect(page.locator('.run-row')).toContainText('broken <b>here</b>');
});

test('the editor knows the API that exists', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  await expect(page.locator('.monaco-editor')).toBeVisible({ timeout: 30_000 });
  await page.locator('.monaco-editor .view-lines').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(`const title: number = await page.title();`);
  await expect(page.locator('.squiggly-error')).toHaveCount(1, { timeout: 30_000 });
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(`await page.getByRole('button', { name: 'Go' }).click({ button: 'right' });\nreturn (await requestTakeover('help')).note;`);
  await expect(page.locator('.squiggly-error')).toHaveCount(0);
});

test('a run can be stopped', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  await run(page, `await page.waitForTimeout(60000)`);
  await expect(page.locator('#output-words')).toHaveText('Running');
  await expect(page.locator('#control-words')).toHaveText('Script in control');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('#output-words')).toHaveText('Stopped');
  await expect(page.locator('[data-error], .line-error')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Run', exact: false }).first()).toBeVisible();
});

test('the events panel takes ten thousand rows and hostile text', async ({ page, baseURL }) => {
  await signIn(page);
  await newSession(page);
  await run(page, `await page.goto('${baseURL}/demo/login');
await page.evaluate(() => {
  document.title = '<img src=x onerror=alert(1)>';
  console.error('<script>alert(1)</' + 'script>');
  for (let i = 0; i < 10000; i++) console.log('line ' + i);
});`);
  await expect(page.locator('#output-words')).toHaveText('Succeeded');
  await expect(page.locator('#session-title')).toHaveText('<img src=x onerror=alert(1)>');
  const events = page.locator('#events-list');
  await expect(events).toContainText('line 9999', { timeout: 30_000 });
  expect(await events.locator('.event').count()).toBeLessThan(80);
  expect(await page.locator('#events-list img, #events-list script').count()).toBe(0);

  // Scrolling through all of it stays smooth: half of the frames take at most 60 ms, on a machine that has time for frames at all.
  const median = (scrolled: boolean) => events.evaluate(async (list, scrolled) => {
    const frames: number[] = [];
    let last = performance.now();
    for (let i = 0; i < 60; i++) {
      if (scrolled)
        list.scrollTop = (list.scrollHeight * i) / 60;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      frames.push(now - last);
      last = now;
    }
    return frames.sort((a, b) => a - b)[30] ?? Infinity;
  }, scrolled);
  const still = await median(false);
  expect(await median(true)).toBeLessThan(Math.max(60, 3 * still));
  await accessible(page, 'events');
});

test('the page works without a mouse', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.id ?? '');
  // Enter leads into the remote page, which then keeps Tab; one combination gives the keyboard back.
  await page.locator('#keys').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('keys');
  await page.keyboard.press('Control+Alt+Enter');
  expect(await focused()).toBe('keys-back');
  await expect(page.locator('#keys-back')).toBeInViewport();
  await page.keyboard.press('Shift+Tab');
  expect(await focused(), 'before the remote page').toBe('new-tab');
  await page.keyboard.press('Tab');
  expect(await focused(), 'and into it again').toBe('keys');
  await page.keyboard.press('Control+Alt+Enter');
  await page.keyboard.press('Tab');
  expect(await focused(), 'behind it').toBe('divider');

  await page.locator('#divider').focus();
  const before = (await page.locator('#side').boundingBox())?.width ?? 0;
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  const after = (await page.locator('#side').boundingBox())?.width ?? 0;
  expect(after).toBeGreaterThan(before);
  await page.reload();
  await hasPicture(page);
  expect((await page.locator('#side').boundingBox())?.width).toBe(after);
});

test('the theme is the person’s choice', async ({ page }) => {
  await page.goto('/login');
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await ground();
  const toggle = page.getByRole('button', { name: /^Theme/ });
  await toggle.click();
  await toggle.click();
  await expect(toggle).toHaveAccessibleName('Theme: dark');
  expect(await ground()).not.toBe(light);
  await page.reload();
  await expect(toggle).toHaveAccessibleName('Theme: dark');
  expect(await ground()).not.toBe(light);

  // With reduced motion, the other theme appears at once, and not one element after the other.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const heading = await page.getByRole('heading').evaluate((one) => {
    const before = getComputedStyle(one).color;
    document.documentElement.dataset.theme = 'light';
    return { before, after: getComputedStyle(one).color, moving: document.getAnimations().length };
  });
  expect(heading.after).not.toBe(heading.before);
  expect(heading.moving).toBe(0);
});

test('on a phone, script and events are sheets', async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await signIn(page);
  await accessible(page, 'sessions on a phone');
  await newSession(page);
  await expect(page.locator('#side')).toBeHidden();
  await page.getByRole('button', { name: 'Script' }).click();
  await expect(page.locator('#run')).toBeInViewport();
  await accessible(page, 'script sheet');
  await page.locator('#script-pane').getByRole('button', { name: 'Close' }).last().click();
  await expect(page.locator('#side')).toBeHidden();
  await page.getByRole('button', { name: 'Events' }).click();
  await expect(page.locator('#events-list')).toBeInViewport();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await context.close();
});

test('dialogs of the remote page are answered here', async ({ page, baseURL }) => {
  await signIn(page);
  await newSession(page);
  const address = page.getByLabel('Address of the remote page');
  await address.fill(`${baseURL}/demo/login`);
  await address.press('Enter');
  await expect(page.locator('#session-title')).toHaveText('Sign in · Demo');
  await page.getByRole('button', { name: 'Give back' }).click();
  await run(page, `await page.evaluate(() => { document.title = 'armed'; addEventListener('mousedown', () => setTimeout(() => { document.title = prompt('Your <name>?', 'x') })) })`);
  await expect(page.locator('#output-words')).toHaveText('Succeeded');
  await page.getByRole('button', { name: 'Take control' }).click();
  await new Remote(page).click({ x: 200, y: 300 });
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Your <name>?');
  await accessible(page, 'dialog');
  await dialog.getByLabel('Answer').fill('Somebody');
  await dialog.getByRole('button', { name: 'OK' }).click();
  await expect(page.locator('#session-title')).toHaveText('Somebody');
});

test('a new session has a phone’s size on a phone, which comes first in Options', async ({ browser, request }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await signIn(page);
  await page.getByRole('button', { name: 'Options' }).click();
  await expect(page.getByLabel('Device')).toHaveValue('390x844');
  await expect(page.getByLabel('Device').locator('option').first()).toContainText('Phone');
  await expect(page.getByLabel('Width')).toHaveValue('390');
  await expect(page.getByLabel('Height')).toHaveValue('844');
  await page.keyboard.press('Escape');
  const id = await newSession(page);
  const made = await (await request.get(`/v1/sessions/${id}`, { headers: auth() })).json();
  expect(made).toMatchObject({ isMobile: true, dimensions: { width: 390, height: 844 } });
  await context.close();
});

test('an address that leads nowhere says so', async ({ page }) => {
  await signIn(page);
  await page.goto('/nowhere');
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await accessible(page, 'not found');
  await page.goto('/sessions/00000000-0000-4000-8000-000000000000');
  await expect(page.getByText('Sessions are kept for 7 days after their end')).toBeVisible();
  await accessible(page, 'no session');
  await page.goto('/takeover/tko_000000000000000000000000');
  await expect(page.getByRole('heading', { name: 'This request is not there' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'All takeovers', exact: true })).toBeVisible();
  await page.goBack();
  await page.getByRole('link', { name: 'All sessions', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Sessions' })).toBeVisible();
});

test('the demo site is for everybody, too', async ({ page }) => {
  await page.goto('/demo/login');
  await accessible(page, 'demo login');
});

test('a crash is told, and mended', async ({ page, baseURL, server }) => {
  test.skip(process.platform !== 'linux', 'finds the browser by /proc');
  await signIn(page);
  await newSession(page);
  const address = page.getByLabel('Address of the remote page');
  await address.fill(`${baseURL}/demo/login`);
  await address.press('Enter');
  await expect(page.locator('#session-title')).toHaveText('Sign in · Demo');
  for (const pid of browsersOf(server.dataDir)) process.kill(pid, 'SIGKILL');
  await expect(page.getByRole('heading', { name: 'The browser crashed' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'The browser crashed' })).toBeHidden({ timeout: 20_000 });
  await expect(address).toHaveValue(/\/demo\/login$/);
  await expect(page.locator('#connection-words')).toHaveText(/^\d+ ms$/);
  // The person still has control, and pictures arrive again.
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await new Remote(page).click({ x: 640, y: 405 });
  await page.keyboard.type('again');
  await expect(async () => {
    const dark = await page.locator('#screen').evaluate((canvas: HTMLCanvasElement) => {
      const scale = canvas.width / 1280;
      const { data } = canvas.getContext('2d')?.getImageData(490 * scale, 395 * scale, 80 * scale, 20 * scale) ?? { data: [] };
      let found = 0;
      for (let i = 0; i < data.length; i += 4) if ((data[i] ?? 255) < 120) found++;
      return found;
    });
    expect(dark).toBeGreaterThan(20);
  }).toPass({ timeout: 15_000 });
});

/** Returns the main processes of the Chromiums whose profiles are under a folder. */
function browsersOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return command.includes(`--user-data-dir=${folder}`) && !command.includes('--type=');
      } catch {
        return false; // it has just ended
      }
    });
}
