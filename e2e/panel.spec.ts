import { expect, test, type APIRequestContext, type Page } from './test.js';
import { accessible, auth, hasPicture, signIn } from './remote.js';

/** The events panel beside the live view, as an operator uses it. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

/** Text of a page that would do harm if it were parsed as markup, and that reverses the text after it. */
const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>\u202eevil`;

async function open(page: Page, request: APIRequestContext): Promise<{ id: string; run: (code: string) => Promise<void> }> {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await signIn(page);
  await page.goto(`/sessions/${id}`);
  await hasPicture(page);
  await expect(page.locator('#events-list')).toBeInViewport(); // on a phone, too: there is room below a wide page
  if ((page.viewportSize()?.width ?? 0) < 1024) for (const panel of ['Script', 'Events']) await page.locator('.dock').getByRole('button', { name: panel }).click(); // who has chosen it keeps it when a run starts
  await expect(page.locator('#events-state')).toBeEmpty();
  const run = async (code: string): Promise<void> => {
    const done = await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, wait: true } })).json();
    expect(done.error ?? null).toBeNull();
  };
  return { id, run };
}

/** Filters the events, and waits until a row that does not pass is gone. A long list draws its rows in other elements when it scrolls. */
async function narrow(page: Page, filter: string, gone: string): Promise<void> {
  await expect(rows(page, gone)).not.toHaveCount(0);
  await page.getByRole('searchbox', { name: 'Filter events' }).fill(filter);
  await expect(rows(page, gone)).toHaveCount(0);
}

const rows = (page: Page, text: string) => page.locator('#events-list [role=option]:visible', { hasText: text });

test('what happens in the browser is one time line, to be narrowed down and looked into', async ({ page, request, baseURL, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { run } = await open(page, request);
  await run(`await page.goto('${baseURL}/demo/login');
    await page.evaluate(async text => {
      console.log('plain words');
      console.error(text);
      const headers = { 'content-type': 'application/json', authorization: 'Bearer zanzibar' };
      await (await fetch('/demo/login', { method: 'POST', headers, body: JSON.stringify({ 'it\\'s': 1 }) })).text();
    }, ${JSON.stringify(HOSTILE)});
    await page.locator('h1').click();`);
  const chip = (name: string) => page.locator('#events-filters').getByRole('button', { name });
  await expect(chip('Errors')).toHaveText(/Errors[1-9]/);

  await chip('Console').click();
  const error = rows(page, 'onerror');
  await expect(error).toHaveCount(1);
  await expect(error.getByRole('img', { name: 'Error' })).toBeAttached();
  await expect(error).toContainText('\\u202eevil');
  await error.click();
  await expect(page.locator('#events-detail')).toContainText(`<script>document.title='owned'</script>\\u202eevil`);
  await page.getByRole('tab', { name: 'JSON' }).click();
  await expect(page.locator('#events-detail')).toContainText('"console_error"');
  expect(await page.locator('#events-pane').evaluate((pane) => pane.querySelectorAll('img, script').length)).toBe(0);
  await expect(page).not.toHaveTitle('owned');
  await page.locator('.detail-step').getByRole('button', { name: /line 2/ }).click();
  await expect(page.locator('#output')).toBeVisible();

  await chip('Network').click();
  await expect(rows(page, 'plain words')).toHaveCount(0);
  await page.locator('#events-standing').selectOption('4');
  await expect(page.locator('#events-list [role=option]:visible')).toHaveCount(1);
  const post = rows(page, 'POST');
  await expect(post).toContainText('422');
  await expect(post.locator('.bar')).toBeVisible();
  await page.locator('#events-list').focus();
  await page.keyboard.press('End');
  await expect(post).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'Headers' }).click();
  const detail = page.locator('#events-detail');
  await expect(detail).toContainText('422 Unprocessable Entity');
  await expect(detail).toContainText('[REDACTED]');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Payload' })).toBeFocused();
  await expect(detail).toContainText("it's: 1");
  await page.getByRole('tab', { name: 'Timing' }).click();
  await expect(detail.getByRole('rowheader', { name: 'Waiting for the response' })).toBeVisible();
  await accessible(page, 'a request in the panel');
  await detail.getByRole('button', { name: 'cURL' }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toContain(`--data-raw '{"it'\\''s":1}'`);
  expect(command).not.toContain('zanzibar');
  await page.keyboard.press('Escape');
  await expect(detail).toBeHidden();

  await page.locator('#events-standing').selectOption('');
  await chip('Input').click();
  await expect(rows(page, 'Click')).toHaveCount(1);
  await chip('All').click();
  await page.getByRole('searchbox', { name: 'Filter events' }).fill('PLAIN');
  await expect(page.locator('#events-list [role=option]:visible')).toHaveCount(1);
});

test('answers and pictures are there when they are captured; tabs are told apart; files are taken away', async ({ page, request, baseURL }) => {
  const { id, run } = await open(page, request);
  await page.getByRole('button', { name: 'Download and capture options' }).click();
  const on = (name: string) => page.waitForResponse((response) => response.url().endsWith('/events/start') && (response.request().postDataJSON() as Record<string, unknown>)[name] === true);
  await Promise.all([on('network_response_body'), page.getByLabel('Response bodies').check()]);
  await Promise.all([on('screenshots'), page.getByLabel('Screenshots').check()]);
  const [har] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Requests as HAR' }).click()]);
  expect(har.suggestedFilename()).toBe(`takeover-${id}.har`);
  await run(`await page.goto('${baseURL}/demo/login');
    await page.evaluate(() => { setTimeout(() => { throw new Error('for a picture') }) });
    const other = await page.context().newPage();
    await other.goto('${baseURL}/demo/popup');`);
  await narrow(page, 'screenshot', 'GET');
  await rows(page, 'Screenshot').first().click();
  const picture = page.locator('.detail-picture');
  await expect(picture).toBeVisible();
  expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(1280);

  await page.getByRole('searchbox', { name: 'Filter events' }).fill('');
  await page.locator('#events-filters').getByRole('button', { name: 'Network' }).click();
  await page.locator('#events-tab').selectOption({ index: 2 });
  await expect(rows(page, '/demo/login')).toHaveCount(0);
  await rows(page, 'GET').filter({ hasText: '/demo/popup' }).first().click();
  await page.getByRole('tab', { name: 'Response' }).click();
  await expect(page.locator('#events-detail')).toContainText('<!doctype html>');
});

test('bodies are offered for capture while the session lives, and no longer', async ({ page, request, baseURL }) => {
  const { id, run } = await open(page, request);
  await run(`await page.goto('${baseURL}/demo/login')`);
  await narrow(page, '/demo/login', 'demo.css');
  await rows(page, 'GET').filter({ hasText: '/demo/login' }).first().click();
  await page.getByRole('tab', { name: 'Response' }).click();
  const detail = page.locator('#events-detail');
  await expect(detail.getByRole('button', { name: 'Capture bodies from now on' })).toBeVisible();
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await expect(detail).toContainText('or the capture of bodies was off.');
  await expect(detail.getByRole('button', { name: 'Capture bodies from now on' })).toHaveCount(0);
});

test('thousands of lines stay few elements, and are walked through by keyboard', async ({ page, request }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const { run } = await open(page, request);
  await run(`await page.evaluate(async () => {
    for (let i = 0; i < 4000; i++) { console.log('line ' + i); if (i % 500 === 0) await new Promise(r => setTimeout(r)); }
  })`);
  await expect(rows(page, 'line 3999')).toBeVisible();
  // Below a wide page there is room for both.
  const box = async (selector: string) => (await page.locator(selector).boundingBox()) ?? { y: 0, height: 0 };
  await expect.poll(async () => (await box('#frame')).y + (await box('#frame')).height - (await box('#events-dock')).y).toBeLessThanOrEqual(0);
  expect((await box('#frame')).height).toBeGreaterThan(200);
  const list = page.locator('#events-list');
  expect(await list.locator('[role=option]').count()).toBeLessThan(80);
  await list.focus();
  await page.keyboard.press('Home');
  await expect(page.getByRole('button', { name: 'Follow new events' })).toHaveAttribute('aria-pressed', 'false');
  await page.keyboard.press('PageDown');
  const active = page.locator('#events-list [aria-selected=true]');
  await expect(active).toBeInViewport();
  expect(await list.getAttribute('aria-activedescendant')).toBe(await active.getAttribute('id'));
  expect(Number(await active.getAttribute('aria-setsize'))).toBeGreaterThan(4000);
  await accessible(page, 'the panel on a phone');
  await page.getByRole('button', { name: 'Pause' }).click();
  await run(`await page.evaluate(() => console.log('meanwhile'))`);
  await expect(page.locator('#events-state')).toHaveText(/Paused, \d+ more/);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('searchbox', { name: 'Filter events' }).fill('meanwhile');
  await expect(rows(page, 'meanwhile')).toHaveCount(1);
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(page.locator('#events-empty')).toBeVisible();
  await page.reload();
  await expect(page.locator('#events-pane')).toBeVisible();
});

test('borders between the panels are moved by keys, and stay where they were put', async ({ page, request }) => {
  await open(page, request);
  const border = page.getByRole('separator', { name: 'Height of the events panel' });
  await border.focus();
  await page.keyboard.press('Home');
  await expect(border).toHaveAttribute('aria-valuenow', '120');
  await page.keyboard.press('ArrowUp');
  await expect(border).toHaveAttribute('aria-valuenow', '144');
  await page.reload();
  await expect(border).toHaveAttribute('aria-valuenow', '144');
  expect((await page.locator('#events-dock').boundingBox())?.height).toBe(144);
});

/** Starts to measure how long the page's main thread works, in ms of its own time, so that a busy machine does not count. */
async function working(page: Page): Promise<(what: () => Promise<void>) => Promise<number>> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => ((await cdp.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN) * 1_000;
  return async (what) => {
    const before = await worked();
    await what();
    return (await worked()) - before;
  };
}

test('ten thousand lines are as smooth as a few hundred', async ({ page, request }) => {
  const { run } = await open(page, request);
  const list = page.locator('#events-list');
  let lines = 0;
  const say = async (count: number): Promise<void> => {
    await run(`await page.evaluate(({ from, to }) => { for (let i = from; i < to; i++) console.log('line ' + i + '.') }, { from: ${lines}, to: ${lines + count} })`);
    lines += count;
    await expect(rows(page, `line ${lines - 1}.`)).toBeVisible();
  };
  const scroll = (): Promise<void> => list.evaluate(async (host) => {
    const end = host.scrollHeight - host.clientHeight;
    for (let step = 0; step <= 40; step++) {
      host.scrollTop = (end * step) / 40;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });
  const work = await working(page);
  await say(300); // one-time compilation and measurement are done
  await scroll();
  // The least of three, because the machine may be busy with something else.
  const least = async (what: () => Promise<void>): Promise<number> => Math.min(await work(what), await work(what), await work(what));
  const few = { append: await least(() => say(500)), scroll: await least(scroll) };
  while (lines < 10_000) await say(1_000);
  const many = { append: await least(() => say(500)), scroll: await least(scroll) };

  const options = list.locator('[role=option]');
  expect(await options.count()).toBeLessThan(80);
  expect(Number(await options.first().getAttribute('aria-setsize'))).toBeGreaterThan(9_000);
  const words = `few: ${JSON.stringify(few)}, many: ${JSON.stringify(many)} ms`;
  expect(many.append, words).toBeLessThan(3 * few.append);
  expect(many.scroll, words).toBeLessThan(3 * few.scroll);
});
