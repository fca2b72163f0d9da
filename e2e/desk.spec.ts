import { expect, serve, test } from './test.js';
import { accessible, auth, coloured, getCookie, hasPicture, newSession, signIn } from './remote.js';

/** What operators see: small faults that were there once. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

interface Box { name: string; left: number; right: number; top: number; bottom: number }

/** Returns the names of boxes that share more than a pixel. */
function overEachOther(boxes: Box[]): string[] {
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1).map((b) => `${a.name} ${b.name}`));
}

test('a session that ends as it should shows no error, and its hints go', async ({ page, request }) => {
  await signIn(page);
  const id = await newSession(page);
  await page.locator('#keys').focus();
  await expect(page.locator('#keys-enter')).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.locator('#keys-hint')).toBeVisible();
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await expect(page.locator('#overlay')).toContainText('ended');
  await expect(page.locator('#keys-enter')).toBeHidden();
  await expect(page.locator('#keys-hint')).toBeHidden();
  await expect(page.locator('#control-words')).toHaveText('Ended');
  await expect(page.locator('#stage-area')).toHaveAttribute('data-party', 'nobody');
  await expect(page.locator('#held')).toBeHidden();
  await expect(page.locator('#events-filters').getByRole('button', { name: 'Errors' })).toHaveText('Errors');
  const events = (await (await request.get(`/v1/sessions/${id}/events?limit=500`, { headers: auth() })).json()).events as { type: string }[];
  expect(events.length).toBeGreaterThan(0);
  expect(events.filter(({ type }) => type === 'monitor_disconnected')).toEqual([]);
});

test('filters of events cover nothing, in any width', async ({ page, request, baseURL }) => {
  await signIn(page);
  const id = await newSession(page);
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `for (let i = 0; i < 30; i++) { console.error(i); } await page.goto('${baseURL}/demo/login'); await page.goto('${baseURL}/demo/')`, wait: true } });
  await page.locator('#events-filters').getByRole('button', { name: 'Network' }).click();
  for (const width of [1440, 1280, 1100, 1024, 900]) {
    await page.setViewportSize({ width, height: 800 });
    const boxes = await page.locator('.events-bar > :visible').evaluateAll((all) => all.map((each) => {
      const { left, right, top, bottom } = each.getBoundingClientRect();
      return { name: each.id || each.className, left, right, top, bottom };
    }));
    expect(overEachOther(boxes), `at ${width} px`).toEqual([]);
    expect(await page.locator('.filter-bar').evaluate((bar) => getComputedStyle(bar).overflowX === 'auto' || bar.scrollWidth <= bar.clientWidth)).toBe(true);
  }
});

test('an ended session says first why its script failed', async ({ page, request, browser, baseURL }) => {
  await signIn(page);
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login`, capture: false } })).json();
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `console.log('begin');\nawait page.click('#nope', { timeout: 300 });`, wait: true } });
  // Whoever opens the live page later sees it, too.
  await page.goto(`/sessions/${id}`);
  await expect(page.locator('#output')).toContainText('#nope');
  await expect(page.locator('#runs-count')).toHaveAttribute('data-wrong', '');
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  for (const [width, height] of [[1440, 900], [1024, 768], [390, 844], [844, 390], [320, 568]] as const) {
    const context = await browser.newContext({ viewport: { width, height }, hasTouch: height < 600, isMobile: height < 600 });
    const small = await context.newPage();
    await getCookie(small);
    await small.goto(`/sessions/${id}`);
    await expect(small.locator('.ended-failure'), `${width}×${height}`).toBeInViewport();
    await expect(small.locator('.ended-failure')).toContainText('Timeout 300ms exceeded');
    await context.close();
  }
  await page.goto(`/sessions/${id}`);
  await page.getByRole('button', { name: 'Line 2' }).click();
  await expect(page.locator('.code-line.at-moment')).toContainText('#nope');
  await expect.poll(() => coloured(page, '.ended-code', 'string')).toEqual(["'begin'", "'#nope'"]);
  // A session that was never looked at and does not ask for a capture has no events, and says why.
  const silent = await (await request.post('/v1/sessions', { headers: auth(), data: { capture: false } })).json();
  await request.post(`/v1/sessions/${silent.id}/release`, { headers: auth(), data: {} });
  await page.goto(`/sessions/${silent.id}`);
  await page.getByRole('tab', { name: 'Events' }).click();
  await expect(page.locator('#panel-events')).toContainText('capture: true');
});

test('menus and dialogs stay in the window', async ({ browser, request }) => {
  for (let i = 0; i < 9; i++) {
    const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
    await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  }
  for (const [width, height] of [[1440, 600], [390, 844], [844, 390]] as const) {
    const context = await browser.newContext({ viewport: { width, height }, hasTouch: width !== 1440, isMobile: width !== 1440 });
    const page = await context.newPage();
    await signIn(page);
    const buttons = page.locator('.row [data-menu]:visible');
    const last = buttons.nth((await buttons.count()) - 1);
    await last.scrollIntoViewIfNeeded();
    await last.click();
    await expect(page.locator('.menu:visible .menu-item').last(), `${width}×${height}`).toBeInViewport({ ratio: 1 });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Options' }).click();
    await expect(page.getByRole('button', { name: 'Start', exact: true }), `${width}×${height}`).toBeInViewport({ ratio: 1 });
    await context.close();
  }
});

test('a request’s link ends with it, and keys do not take the request', async ({ page, request }) => {
  await signIn(page);
  const id = await newSession(page);
  const { id: takeover } = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Look at this' } })).json();
  await expect(page.locator('#banner')).toBeVisible();
  for (let i = 0; i < 25; i++) await page.keyboard.press('Tab');
  expect((await (await request.get(`/v1/sessions/${id}/takeovers/${takeover}`, { headers: auth() })).json()).state).toBe('pending');
  await page.getByRole('button', { name: 'Share' }).click();
  const row = page.locator('.share-row', { hasText: 'Help with one request' });
  await expect(row).toContainText('until the request ends');
  await expect(row.locator('[data-deadline]')).toHaveCount(0);
});

test('on a phone, the page’s name has room beside another person, and the menu has the link for a helper', async ({ page, browser, request }) => {
  await signIn(page);
  const id = await newSession(page);
  await page.getByRole('button', { name: 'Take control' }).click();
  for (const width of [390, 320]) {
    const context = await browser.newContext({ viewport: { width, height: 700 }, hasTouch: true, isMobile: true, permissions: ['clipboard-read', 'clipboard-write'] });
    const phone = await context.newPage();
    await getCookie(phone);
    await phone.goto(`/sessions/${id}`);
    await expect(phone.locator('#control-state')).toHaveAttribute('data-party', 'person');
    expect(await phone.locator('#session-title').evaluate((title) => title.getBoundingClientRect().width), `at ${width} px`).toBeGreaterThan(56);
    const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Look at this' } })).json();
    await phone.getByRole('button', { name: 'More' }).tap();
    await phone.getByRole('button', { name: 'Copy the link for a helper' }).tap();
    await expect(phone.locator('.toast')).toContainText('copied');
    await request.post(`/v1/sessions/${id}/takeovers/${asked.id}/cancel`, { headers: auth(), data: {} });
    await context.close();
  }
});

test('settings say how many browsers are in use, and rows of the list are not cut by their card', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login` } })).json();
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `throw new Error('${'a long reason '.repeat(20)}')`, wait: true } });
  await signIn(page);
  await page.goto('/settings');
  await expect(page.locator('.facts').first()).toContainText(/Sessions in use\s*\d+ of \d+/);
  const whole = async (what: string): Promise<void> => {
    await page.goto('/');
    await expect(page.locator(`[data-key="${id}"].row`)).toContainText(what);
    for (const width of [1440, 1024, 800, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      const rows = await page.locator('.row').evaluateAll((all) => all.map((row) => {
        const { left, right } = row.getBoundingClientRect();
        const boxes = [...row.querySelectorAll('.row-state > *, .row-times > *, .row-name > *')].filter((each) => each.checkVisibility()).map((each) => {
          const box = each.getBoundingClientRect();
          return { name: each.textContent ?? '', left: box.left, right: box.right, top: box.top, bottom: box.bottom };
        }).filter((box) => box.right > box.left);
        return { boxes, outside: boxes.filter((box) => box.left < left || box.right > right + 1).map(({ name }) => `${name} outside`) };
      }));
      const wrong = rows.flatMap(({ boxes, outside }) => [...outside, ...overEachOther(boxes)]);
      expect(wrong, `at ${width} px`).toEqual([]);
    }
  };
  const viewer = await page.context().newPage();
  await viewer.goto(`/sessions/${id}`);
  await hasPicture(viewer);
  await whole('1 viewer');
  await viewer.close();
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await whole('Failed');
});

test('the list says when all browsers are in use, and ends the oldest idle one', async ({ page, request }) => {
  const own = await serve(Number(process.env.E2E_PORT) + 4_000, ['--max-sessions', '1']);
  try {
    const { id } = await (await request.post(`${own.url}/v1/sessions`, { headers: auth(), data: {} })).json();
    await getCookie(page, own.url);
    await page.goto(`${own.url}/`);
    await expect(page.locator('#slots')).toHaveText('1 of 1 browsers');
    await expect(page.locator('#new-session')).toBeDisabled();
    await expect(page.locator('.full-note')).toContainText('All 1 browsers are in use.');
    await page.locator('.full-note').getByRole('button', { name: 'End the oldest idle one…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).last().click();
    await expect(page.locator('#slots')).toHaveText('0 of 1 browsers');
    await expect(page.locator('#new-session')).toBeEnabled();
    expect((await (await request.get(`${own.url}/v1/sessions/${id}`, { headers: auth() })).json()).endedAt).toBeTruthy();
  } finally {
    await own.close();
  }
});

test('the list shows pictures of what sessions show', async ({ page, request, baseURL }) => {
  const pages = ['login', '', 'shop'];
  const ids = await Promise.all(pages.map(async (path) => (await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/${path}`, capture: true } })).json()).id as string));
  await signIn(page);
  const colours = (id: string): Promise<number> => page.locator(`[data-key="${id}"] .thumb img[data-loaded]`).evaluate((image: HTMLImageElement) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    return new Set(new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
  });
  for (const id of ids) expect(await colours(id), 'a blank page has one colour').toBeGreaterThan(8);
  // A session that has ended shows the last picture of its film.
  await expect.poll(async () => (await (await request.get(`/v1/sessions/${ids[0]}/film`, { headers: auth() })).json()).pictures.length).toBeGreaterThan(0);
  await request.post(`/v1/sessions/${ids[0]}/release`, { headers: auth(), data: {} });
  await page.reload();
  await expect(page.locator(`[data-key="${ids[0]}"]`)).toHaveAttribute('data-ended-at', /.+/);
  expect(await colours(ids[0]!)).toBeGreaterThan(8);
});

test('a phone says how a run is doing without its panel', async ({ page, request, browser }) => {
  await signIn(page);
  const id = await newSession(page);
  for (const viewport of [{ width: 390, height: 844 }, { width: 320, height: 568 }, { width: 844, height: 390 }]) {
    const context = await browser.newContext({ viewport, hasTouch: true, isMobile: true });
    const phone = await context.newPage();
    await getCookie(phone);
    await phone.goto(`/sessions/${id}`);
    const button = phone.locator('#dock-script');
    await expect(button).toHaveAccessibleName(/^Script$|^Script: Succeeded$/);
    const start = await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: 'await requestTakeover("Look")' } });
    expect(start.ok()).toBe(true);
    await expect(button).toHaveAccessibleName('Script: Waiting');
    await expect(phone.locator('#dock-shape')).toBeVisible();
    await accessible(phone, `a run on a phone, ${viewport.width} px`);
    const { takeovers } = (await (await request.get(`/v1/sessions/${id}/takeovers`, { headers: auth() })).json()) as { takeovers: { id: string; state: string }[] };
    await request.post(`/v1/sessions/${id}/takeovers/${takeovers.find(({ state }) => state === 'pending')?.id}/done`, { headers: auth(), data: {} });
    await expect(button).toHaveAccessibleName('Script: Succeeded');
    if (viewport.width === 390) await expect(phone.locator('#output-words'), 'below the picture, there is room for it').toBeVisible();
    else await button.tap();
    await expect(phone.locator('#output-words')).toHaveText('Succeeded');
    await phone.getByRole('button', { name: 'Close the output' }).tap();
    await expect(button).toHaveAccessibleName('Script');
    if (viewport.width === 844) {
      await phone.locator('.side .sheet-close').tap();
      await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `throw new Error(${JSON.stringify('why '.repeat(40))})` } });
      const word = phone.locator('#failed-run-word');
      await expect(word).toHaveText('Failed');
      expect((await word.boundingBox())!.height, 'the word stands in one line beside a long reason').toBeLessThan(28);
    }
    await context.close();
  }
});

test('somebody who may only watch sees no tools', async ({ page, request, browser }) => {
  await signIn(page);
  const id = await newSession(page);
  const { url } = await (await request.post(`/v1/sessions/${id}/links`, { headers: auth(), data: { role: 'view' } })).json();
  const tools = ['#control-button', '[data-go=back]', '[data-go=forward]', '#reload', '[data-menu=keys-menu]', '#new-tab'];
  for (const tool of tools) await expect(page.locator(tool), tool).toBeVisible();
  await page.locator('#new-tab').click();
  await expect(page.locator('.tab-close')).toHaveCount(2);
  await expect(page.locator('.tab-close').first()).toBeVisible();
  await page.locator('#control-button').click();
  await expect(page.locator('#control-words')).toHaveText('Nobody in control');
  for (const viewport of [{ width: 1280, height: 720 }, { width: 844, height: 390 }, { width: 390, height: 844 }]) {
    const context = await browser.newContext({ viewport });
    const watcher = await context.newPage();
    await watcher.goto(url);
    await expect(watcher.locator('.tab')).toHaveCount(2);
    await expect(watcher.getByRole('textbox', { name: 'Address of the remote page' })).toHaveAttribute('readonly');
    for (const tool of [...tools, '.tab-close >> nth=0', '.tab-close >> nth=1']) await expect(watcher.locator(tool), tool).toBeHidden();
    const narrow = viewport.width < 720;
    await expect(watcher.locator(narrow ? '.session-name .narrow-only' : '.watch')).toContainText('You can watch');
    await expect(watcher.locator(narrow ? '#time-left-below' : '#time-left')).toHaveText(/min left/);
    await expect(watcher.locator(narrow ? '#time-left-below' : '#time-left')).toBeVisible();
    // Who cannot take control need not know by a word alone that nobody has it.
    await expect(watcher.locator(narrow ? '#control-below' : '#control-short')).toBeHidden();
    // Nothing comes below the picture, so it is in the middle.
    await hasPicture(watcher);
    const [frame, stage] = [(await watcher.locator('#frame').boundingBox())!, (await watcher.locator('#stage').boundingBox())!];
    expect(frame.y - stage.y).toBeCloseTo(stage.y + stage.height - frame.y - frame.height, 0);
    await accessible(watcher, 'a session, watched');
    await context.close();
  }
});
