import { expect, test, type Browser, type Page } from './test.js';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessible, auth, getCookie, hasPicture, newSession, signIn } from './remote.js';

/** The regions of a session's page: what loads or comes does not move what a person is about to press. */

/** The largest shift of layout while a page loads, and while a takeover comes (the unit is of the Layout Instability API). */
const ON_LOAD = 0.02;
const ON_TAKEOVER = 0;

const SIZES = [
  { width: 1440, height: 900 }, { width: 1024, height: 768 },
  { width: 390, height: 844, touch: true }, { width: 844, height: 390, touch: true },
] as const;

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

async function openAt(browser: Browser, size: (typeof SIZES)[number]): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: size.width, height: size.height }, ...('touch' in size ? { hasTouch: true, isMobile: true } : {}) });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const shifts: string[] = [];
    const seen = Object.assign(window, { shifted: 0, shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; sources: { node: Element | null; previousRect: DOMRect; currentRect: DOMRect }[] })[]) {
        seen.shifted += entry.value;
        for (const { node, previousRect: a, currentRect: b } of entry.sources) shifts.push(`${node?.id || node?.className || node?.nodeName} ${a.x},${a.y} → ${b.x},${b.y}`);
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  return page;
}

/** Waits until the page is drawn, and returns how much has moved since it was asked last, and what. */
async function shifted(page: Page): Promise<{ by: number; what: string[] }> {
  return page.evaluate(async () => {
    for (let i = 0; i < 30; i++) await new Promise(requestAnimationFrame);
    const seen = window as unknown as { shifted: number; shifts: string[] };
    const answer = { by: seen.shifted, what: seen.shifts.splice(0) };
    seen.shifted = 0;
    return answer;
  });
}

for (const size of SIZES) {
  const name = `${size.width}×${size.height}`;
  test(`nothing moves when a takeover comes, ${name}`, async ({ browser, request }) => {
    const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: 'about:blank' } })).json();
    const page = await openAt(browser, size);
    await getCookie(page);
    await page.goto(`/sessions/${id}`);
    await hasPicture(page);
    if (size.width >= 1440) await expect(page.locator('.monaco-editor').first()).toBeVisible({ timeout: 60_000 });
    const load = await shifted(page);
    expect(load.by, `on load: ${load.what.join('; ')}`).toBeLessThanOrEqual(ON_LOAD);

    const places = () => page.locator('.session-bar button:visible, .browser-bar button:visible, .side button:visible, .dock button:visible').evaluateAll((all) =>
      all.filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => `${one.id || one.textContent?.trim() || one.ariaLabel} ${Object.values<number>(one.getBoundingClientRect().toJSON()).map(Math.round)}`));
    const before = (await places()).filter((place) => !place.startsWith('control-button'));
    const whole = await page.locator('#frame').boundingBox();
    await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Enter the code from your phone' } });
    await expect(page.locator('#banner')).toBeInViewport();
    const came = await shifted(page);
    expect(came.by, `with the banner: ${came.what.join('; ')}`).toBe(ON_TAKEOVER);
    expect(await places(), 'every button is where it was').toEqual(before);
    const box = async (selector: string) => (await page.locator(selector).boundingBox()) ?? { y: 0, height: 0 };
    const picture = await box('#frame');
    if (size.width >= 1024) expect(await page.locator('#frame').boundingBox(), 'the picture keeps its size').toEqual(whole);
    expect(picture.y + picture.height, 'the banner hides nothing of the picture').toBeLessThanOrEqual((await box('#banner')).y + 1);
    if (size.height < 500) expect(await page.locator('.browser-bar').evaluate((bar) => bar.getBoundingClientRect().bottom), 'one bar of 48 px').toBeLessThanOrEqual(48);
    if (size.height < 500) expect(picture.height, 'the picture has the height').toBeGreaterThanOrEqual(0.6 * size.height);
    await page.context().close();
  });
}

test('a small phone shows events below the picture, until a request takes their room', async ({ browser, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const context = await browser.newContext({ viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await getCookie(page);
  await page.goto(`/sessions/${id}`);
  await hasPicture(page);
  await expect(page.locator('#events-list')).toBeInViewport();
  const bar = page.locator('.filter-bar');
  const mark = () => bar.evaluate((element) => {
    const { content, display, opacity, pointerEvents } = getComputedStyle(element, '::after');
    return { more: element.scrollWidth > element.clientWidth, shown: display !== 'none' && Number(opacity) > 0, content, pointerEvents };
  });
  const marked = { more: true, shown: true, content: '"›" / ""', pointerEvents: 'none' };
  expect(await mark(), 'what runs off fades, and has a mark').toEqual(marked);
  await bar.evaluate((element) => element.scrollTo({ left: element.scrollWidth }));
  await expect.poll(mark, 'nothing follows').toEqual({ ...marked, shown: false });
  await bar.evaluate((element) => element.scrollTo({ left: 0 }));
  await expect.poll(mark).toEqual(marked);
  const picture = await page.locator('#frame').boundingBox();
  await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Enter the code from your phone' } });
  await expect(page.locator('#banner')).toBeInViewport();
  await expect(page.locator('#events-list')).toBeHidden();
  expect(await page.locator('#frame').boundingBox()).toEqual(picture);
  await context.close();
});

test('who takes control on a phone sees the form that waits, and gets the panel back later', async ({ browser, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login`, capture: true } })).json();
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await getCookie(page);
  await page.goto(`/sessions/${id}`);
  await hasPicture(page);
  await expect(page.locator('#events-list')).toBeVisible();
  const width = async (): Promise<number> => (await page.locator('#frame').boundingBox())?.width ?? 0;
  const whole = await width();
  await page.getByRole('button', { name: 'Take control' }).click();
  await expect.poll(width).toBeGreaterThan(2 * whole);
  await expect(page.locator('#events-list'), 'the page has its room').toBeHidden();
  await page.getByRole('button', { name: 'Give back' }).click();
  await expect(page.locator('#events-list')).toBeVisible();
  await context.close();
});

test('pages are laid out before their scripts run', async ({ browser, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: "await page.setContent('<h1>Seen</h1>')", wait: true } });
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await request.post('/v1/sessions', { headers: auth(), data: {} });
  for (const size of [SIZES[0], SIZES[2]]) {
    const page = await openAt(browser, size);
    await page.goto('/login');
    const moved: Record<string, string> = {};
    const look = async (path: string) => {
      await page.goto(path);
      const { by, what } = await shifted(page);
      if (by > ON_LOAD) moved[`${path} at ${size.width}`] = `${by.toFixed(3)}: ${what.join('; ')}`;
    };
    await look('/login');
    await getCookie(page);
    for (const path of ['/', `/sessions/${id}`, '/takeovers', '/trajectories', '/scripts', '/profiles', '/settings', '/docs']) await look(path);
    expect(moved).toEqual({});
    await page.context().close();
  }
});

test('a page that comes slowly is drawn when it is whole', async ({ page, request, server }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await getCookie(page);
  const whole = await (await page.context().request.get(`/sessions/${id}`)).text();
  const half = whole.indexOf('id="hold-button"');
  const slow = createServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith('/sessions/')) return void outgoing.writeHead(307, { location: server.url + incoming.url }).end();
    outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).write(whole.slice(0, half));
    setTimeout(() => outgoing.end(whole.slice(half)), 1_500);
  }).listen(0, '127.0.0.1');
  try {
    await once(slow, 'listening');
    await page.goto(`http://127.0.0.1:${(slow.address() as AddressInfo).port}/sessions/${id}`);
    const { came, drawn } = await page.evaluate(async () => {
      const [first] = await new Promise<PerformanceEntry[]>((found) => new PerformanceObserver((list) => found(list.getEntriesByName('first-paint'))).observe({ type: 'paint', buffered: true }));
      const [{ responseEnd: came }] = performance.getEntriesByType('navigation') as [PerformanceNavigationTiming];
      return { came, drawn: first?.startTime ?? 0 };
    });
    expect(came).toBeGreaterThan(1_000);
    expect(drawn, 'drawn when all of it had come').toBeGreaterThanOrEqual(came);
  } finally {
    slow.closeAllConnections();
    slow.close();
  }
});

test('a double press on Run runs the script, and nothing else', async ({ page, request }) => {
  await signIn(page);
  const id = await newSession(page);
  await page.locator('#code').fill("await requestTakeover('Look')");
  await page.locator('#run').dblclick();
  await expect(page.locator('#banner')).toBeVisible();
  const { runs } = await (await request.get(`/v1/sessions/${id}/runs`, { headers: auth() })).json();
  expect(runs.map(({ status }: { status: string }) => status)).toEqual(['waiting']);
  await expect(page.locator('.toasts'), 'no link was copied').not.toContainText('copied');
  await page.locator('#run-stop').click();
  await expect(page.locator('#run')).toBeVisible();
});

test('the events and the side panel fold, and stay folded', async ({ page, browser, request }) => {
  await signIn(page);
  const id = await newSession(page);
  const height = async (selector: string) => (await page.locator(selector).boundingBox())?.height ?? 0;
  const picture = await height('#frame');
  await expect(page.getByRole('tablist', { name: 'Script and its runs' }).getByRole('tab')).toHaveText([/^Script/, /^Runs/, /^Files/]);
  const [view, dock] = [(await page.locator('#view').boundingBox())!, (await page.locator('#events-dock').boundingBox())!];
  expect([dock.x, dock.width], 'the dock is as wide as the view').toEqual([view.x, view.width]);
  expect(dock.height).toBeLessThanOrEqual(240);
  await page.locator('#events-fold').click();
  await expect(page.locator('#events-list')).toBeHidden();
  expect(await height('#events-dock')).toBe(37);
  await page.locator('#side-fold').click();
  await expect(page.locator('#script-pane')).toBeHidden();
  await expect.poll(() => height('#frame'), 'the picture gets the room').toBeGreaterThan(picture);
  await page.reload();
  await hasPicture(page);
  await expect(page.locator('#events-list')).toBeHidden();
  await page.getByRole('button', { name: 'Runs' }).click();
  await expect(page.getByRole('tab', { name: 'Runs' })).toHaveAttribute('aria-selected', 'true');
  await page.locator('#events-fold').click();
  await expect(page.locator('#events-list')).toBeVisible();

  const small = await browser.newContext({ viewport: { width: 1024, height: 768 } });
  const other = await small.newPage();
  await getCookie(other);
  await other.goto(`/sessions/${id}`);
  await hasPicture(other);
  await expect(other.locator('#script-pane'), 'a rail at 1024 px').toBeHidden();
  await other.getByRole('button', { name: 'Script' }).click();
  await expect(other.locator('#run')).toBeInViewport();
  await other.locator('#side-fold').click();
  await expect(other.locator('#rail-script'), 'the focus goes with it').toBeFocused();
  const fault = other.getByRole('region', { name: 'Failed run' });
  const fail = () => request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `await page.waitForTimeout(500); throw new Error('no')`, wait: true } });
  await fail();
  await expect(other.locator('#rail-words'), 'the rail says how the run went').toHaveText('Failed');
  await expect(fault, 'and a notice why').toContainText('Error: no');
  await accessible(other, 'a failed run, folded');
  await fault.getByRole('button', { name: 'Open' }).click();
  await expect(other.locator('[data-error]')).toBeInViewport();
  await expect(fault).toBeHidden();
  await other.locator('#side-fold').click();
  await expect(other.locator('#script-pane')).toBeHidden();
  await expect(fault, 'it was read').toBeHidden();
  await fail();
  await fault.getByRole('button', { name: 'Close' }).click();
  await expect(fault).toBeHidden();
  await other.reload();
  await expect(other.locator('#rail-words')).toHaveText('Failed');
  await expect(fault, 'it was closed').toBeHidden();
  await small.close();
});

test('an event’s details stand at its right, and go with it', async ({ page, request }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await signIn(page);
  const id = await newSession(page);
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: "await page.evaluate(() => console.log('hello'))", wait: true } });
  const row = page.locator('#events-list .event:visible').filter({ hasText: 'hello' });
  const before = await row.boundingBox();
  await row.click();
  const detail = page.locator('#events-detail');
  await expect(detail).toBeVisible();
  expect((await row.boundingBox())?.y, 'the list does not move').toBe(before?.y);
  expect((await detail.boundingBox())?.x ?? 0).toBeGreaterThan(before?.x ?? 0);
  await page.locator('#events-filters').getByRole('button', { name: 'Errors' }).click();
  await expect(detail, 'of a row that the filter hides').toBeHidden();
});
