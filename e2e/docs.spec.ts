import { expect, test } from './test.js';
import { coloured, signIn } from './remote.js';

/** The API as pages: its search, its examples, its addresses. */

test.beforeEach(async ({ page }) => {
  await signIn(page);
});

test('the search finds calls on all pages, the best first, and keys choose among them', async ({ page }) => {
  await page.goto('/docs');
  await page.keyboard.press('/');
  const search = page.getByRole('combobox', { name: 'Search the API' });
  await expect(search).toBeFocused();
  await search.fill('takeover');
  const rows = page.getByRole('listbox', { name: 'What was found' }).getByRole('option');
  await expect(rows.first()).toHaveText(/POST\s*\/v1\/sessions\/:id\/takeovers\s*Ask for a person\./);
  await expect(rows.first()).toHaveAttribute('aria-selected', 'true');
  // No path breaks.
  expect(await rows.locator('code').evaluateAll((paths) => paths.filter((path) => path.getClientRects().length > 1 || path.clientHeight > 24).length)).toBe(0);
  await search.press('ArrowDown');
  await expect(rows.nth(1)).toHaveAttribute('aria-selected', 'true');
  await search.press('ArrowUp');
  await search.press('Enter');
  await expect(page).toHaveURL(/\/docs\/takeovers#requestTakeover$/);
  await expect(page.getByRole('heading', { name: 'POST /v1/sessions/:id/takeovers', exact: true })).toBeInViewport();
  await search.fill('nothing has this');
  await expect(page.getByText('Nothing matches.')).toBeVisible();
  await search.press('Escape');
  await expect(page.getByText('Nothing matches.')).toBeHidden();
  await expect(search).toHaveValue('');
  await search.fill('deniedHosts reason'); // fields
  await rows.first().click();
  await expect(page).toHaveURL(/#requestTakeover$/);
});

test('the search understands what people say', async ({ page }) => {
  await page.goto('/docs');
  const search = page.getByRole('combobox', { name: 'Search the API' });
  const first = page.getByRole('listbox', { name: 'What was found' }).getByRole('option').first();
  for (const [said, meant] of [
    ['end a session', '/v1/sessions/:id/release'], ['end session', '/v1/sessions/:id/release'], ['close session', '/v1/sessions/:id/release'], ['stop the session', '/v1/sessions/:id/release'],
    ['release', '/v1/sessions/:id/release'], ['ending sessions', '/v1/sessions/:id/release'], ['wait for takeover', '/v1/sessions/:id/takeovers/:tid'], ['keep login', '/v1/profiles'], ['stay signed in', '/v1/profiles'],
  ] as const) {
    await search.fill(said);
    await expect(first.locator('code'), said).toHaveText(meant);
  }
});

test('the search ranks calls before objects, says what was found, and forgives a wrong letter', async ({ page }) => {
  await page.goto('/docs');
  const search = page.getByRole('combobox', { name: 'Search the API' });
  const rows = page.getByRole('listbox', { name: 'What was found' }).getByRole('option');
  await search.fill('takeover timeout');
  await expect(rows.first()).toHaveText(/POST\s*\/v1\/sessions\/:id\/takeovers\s*Ask for a person\. timeout: How long/);
  const session = rows.filter({ hasText: 'Session.timeout' });
  await expect(session).toHaveText(/Object\s*Session\.timeout\s*\S+/);
  const kinds = await rows.locator('.method').allTextContents();
  expect(kinds.indexOf('Object')).toBeGreaterThan(kinds.lastIndexOf('PATCH'));
  for (const said of ['session', 'timeout', 'takeover timeout', 'Run', 'errors', 'file']) {
    await search.fill(said);
    expect((await rows.locator('.meta').allTextContents()).filter((words) => words.trim() === ''), said).toEqual([]);
  }
  await search.fill('post sessions create');
  const paths = await rows.locator('code').allTextContents();
  expect(paths[0]).toBe('/v1/sessions');
  for (const typed of ['takeovr', 'takoever', 'takkeover']) {
    await search.fill(typed);
    await expect(rows.first(), typed).toHaveText(/Ask for a person\./);
  }
  await search.fill('share links');
  await expect(rows.filter({ hasText: 'Group' })).toHaveText(/Share links\s*Let people/);
  await search.fill('quick start');
  await rows.first().click();
  await expect(page).toHaveURL(/\/docs#begin$/);
});

test('a phone has the search and the groups in one row that stays, and code that wraps', async ({ browser, baseURL }) => {
  for (const viewport of [{ width: 390, height: 844 }, { width: 320, height: 568 }, { width: 844, height: 390 }]) {
    const context = await browser.newContext({ baseURL, viewport, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await signIn(page);
    await page.goto('/docs/takeovers');
    const top = (selector: string): Promise<number> => page.locator(selector).first().evaluate((element) => Math.round(element.getBoundingClientRect().top));
    expect(await top('.docs-all summary')).toBe(await top('#docs-search'));
    expect((await page.locator('.docs-all summary').boundingBox())?.height).toBe(44);
    expect(await top('h1')).toBeLessThan(150);
    await expect(page.locator('.docs-language')).toBeHidden();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    const code = page.locator('#requestTakeover .example pre:visible').first();
    expect(await code.evaluate((pre) => pre.scrollWidth - pre.clientWidth)).toBe(0);
    await page.locator('#getTakeover').scrollIntoViewIfNeeded();
    await page.evaluate(() => window.scrollTo({ top: 2_000, behavior: 'instant' }));
    await expect.poll(() => top('#docs-search')).toBe(8);
    await page.getByText('All groups').tap();
    await expect(page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Files', exact: true })).toBeVisible();
    expect(await page.locator('.docs-all ul').evaluate((list) => list.scrollWidth <= list.clientWidth)).toBe(true); // it scrolls down only
    await page.keyboard.press('Escape');
    await expect(page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Files', exact: true })).toBeHidden();
    await context.close();
  }
});

test('a tall answer is folded, opens as a whole, and agrees with itself', async ({ page }) => {
  await page.goto('/docs/scripts');
  const answer = page.locator('#getRun .returns');
  await expect(answer).toHaveAttribute('data-folded');
  const all = answer.getByRole('button', { name: 'Show all' });
  await expect(all).toHaveAttribute('aria-expanded', 'false');
  await all.click();
  await expect(answer.getByRole('button', { name: 'Show less' })).toHaveAttribute('aria-expanded', 'true');
  expect(await answer.locator('pre').evaluate((pre) => pre.scrollHeight <= pre.clientHeight)).toBe(true);
  const run = JSON.parse(await answer.locator('pre').innerText()) as { status: string; createdAt: string; endedAt: string; durationMs: number };
  expect(run.status).toBe('succeeded');
  expect(Date.parse(run.endedAt) - Date.parse(run.createdAt)).toBe(run.durationMs);
  await expect(page.locator('#runScript .operation-name .docs-who')).toHaveText('needs a key');
  await expect(page.locator('#runScript header code', { hasText: 'wait:true' })).toBeVisible();
  await page.goto('/docs/sessions');
  const session = JSON.parse((await page.locator('#getSession .returns pre').textContent()) ?? '') as { status: string; endedAt: string | null; endReason: string };
  expect(session).toMatchObject({ status: 'live', endedAt: null, endReason: '' });
});

test('a phone offers all groups, and no key', async ({ browser, baseURL }) => {
  for (const width of [390, 320]) {
    const context = await browser.newContext({ baseURL, viewport: { width, height: 568 }, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await signIn(page);
    await page.goto('/docs/takeovers');
    await expect(page.locator('.docs-search kbd')).toBeHidden();
    for (const bar of ['.docs-language', '#requestTakeover .example-bar']) {
      const tops = await page.locator(bar).first().locator('button').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
      expect(Math.max(...tops) - Math.min(...tops), `${bar}: one line`).toBeLessThan(10);
    }
    await page.getByText('All groups').click();
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Profiles', exact: true }).click();
    await expect(page).toHaveURL(/\/docs\/profiles$/);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await expect(page.locator('#account-menu [aria-current]')).toHaveText('API');
    await context.close();
  }
});

test('the contents list the groups, and the calls of the open one', async ({ page }) => {
  await page.goto('/docs');
  const contents = page.getByRole('navigation', { name: 'Contents' });
  await expect(contents.getByRole('link', { name: 'Overview' })).toHaveAttribute('aria-current');
  await contents.getByRole('link', { name: 'Files', exact: true }).click();
  await expect(page).toHaveURL(/\/docs\/files$/);
  await expect(page.getByRole('heading', { name: 'Files', level: 1 })).toBeVisible();
  await expect(contents.locator('.docs-tree ul a[href="#uploadFile"]')).toBeVisible();
  await expect(contents.getByRole('link', { name: 'DELETE Remove all files' })).toHaveAttribute('title', 'DELETE /v1/sessions/:id/files');
  const fields = page.locator('#listFiles .fields').first();
  const [names, texts] = await Promise.all(['dt', 'dd'].map(async (part) => (await fields.locator(part).first().boundingBox())?.width ?? 0));
  expect(texts, 'descriptions have the room that names do not need').toBeGreaterThan(3 * (names ?? 0));
  await expect(contents.locator('a[href="#requestTakeover"]')).toHaveCount(0);
  // The errors of a call stand in it. No other page's style puts them elsewhere.
  expect(await page.locator('.problems').evaluateAll((lists) => [...new Set(lists.map((list) => getComputedStyle(list).position))])).toEqual(['static']);
});

test('addresses of the time when all calls were on one page lead to their pages', async ({ page }) => {
  for (const [old, now] of [['requestTakeover', 'takeovers#requestTakeover'], ['object-Takeover', 'takeovers#object-Takeover'], ['profiles', 'profiles'], ['from-server-tabs', 'socket#from-server-tabs']] as const) {
    await page.goto(`/docs#${old}`);
    await expect(page).toHaveURL(new RegExp(`/docs/${now}$`));
    await page.goto('about:blank');
  }
  await page.goto('/docs#not-found');
  await expect(page.locator('#not-found')).toBeInViewport();
});

test('all examples change their language together, and the next visit begins with it', async ({ page }) => {
  await page.goto('/docs/sessions');
  const example = page.locator('.example[data-call="createSession"]');
  await expect(example.locator('pre:visible')).toContainText('curl');
  const languages = page.locator('.docs-language');
  await page.locator('#getSession').scrollIntoViewIfNeeded();
  await expect(languages, 'it stays').toBeInViewport();
  const top = (): Promise<number> => page.locator('.operation').evaluateAll((all) => Math.round(all.find((each) => each.getBoundingClientRect().bottom > 0)?.getBoundingClientRect().top ?? 0));
  const before = await top();
  await languages.getByRole('button', { name: 'Python' }).click();
  expect(Math.abs((await top()) - before), 'what is in sight stays where it was').toBeLessThan(2);
  await expect(example.locator('.example-bar')).toHaveText('Python', { useInnerText: true });
  await expect(example.locator('pre:visible')).toContainText('import json');
  await expect(page.locator('.example pre[data-in="curl"]:visible')).toHaveCount(0);
  await page.reload();
  await expect(languages.getByRole('button', { name: 'Python' })).toHaveAttribute('aria-pressed', 'true');
  await expect(example.locator('pre:visible')).toContainText('import json');
  await page.locator('.docs-language').getByRole('button', { name: 'curl' }).click();
  // curl opens no sockets.
  await page.goto('/docs/agents');
  await expect(page.locator('.example[data-call="commands"] pre:visible')).toContainText('new WebSocket');
});

test('an example follows what its call does, before the fields, or stands beside them', async ({ page }) => {
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/docs/sessions');
    const [example, fields] = await Promise.all(['.operation-example', '.operation-fields'].map((part) => page.locator(`#createSession ${part}`).boundingBox()));
    if (width === 1440) expect(example?.y).toBe(fields?.y);
    else expect(example!.y + example!.height, `${width}`).toBeLessThanOrEqual(fields!.y);
  }
});

test('examples and answers have colours, in each language', async ({ page }) => {
  await page.goto('/docs/sessions');
  await expect.poll(() => coloured(page, '.example pre:not([hidden])', 'keyword')).toContain('curl');
  expect(await coloured(page, '.example', 'number'), 'a variable').toContain('$TAKEOVER_API_KEY');
  for (const [language, word] of [['JavaScript', 'await'], ['Python', 'import'], ['Go', 'package']] as const) {
    await page.locator('.docs-language').getByRole('button', { name: language }).click();
    await expect.poll(() => coloured(page, '.example pre:not([hidden])', 'keyword'), language).toContain(word);
  }
  await page.locator('#createSession .returns').scrollIntoViewIfNeeded();
  await expect.poll(() => coloured(page, '#createSession .returns', 'string')).toContain('"live"');
});

test('examples wrap, and each call shows what it answers', async ({ page }) => {
  await page.goto('/docs/takeovers');
  const asking = page.locator('#requestTakeover');
  await expect(asking.getByRole('group', { name: 'An answer of requestTakeover' })).toContainText('"reason": "Enter the code from your phone"');
  expect(await page.locator('pre:visible').evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length)).toBe(0);
  await page.goto('/docs/links');
  await expect(page.locator('#revokeLink .returns')).toHaveText(/204\s*no body/);
});

test('the copied example is the one that is shown, and agents get Markdown', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  await page.goto('/docs/sessions');
  const example = page.locator('.example[data-call="getSession"]');
  await page.locator('.docs-language').getByRole('button', { name: 'Go', exact: true }).click();
  await example.getByRole('button', { name: 'Copy the example of getSession' }).click();
  await expect(page.getByText('Example copied')).toBeVisible();
  expect(await copied()).toContain('package main');
  await page.getByRole('button', { name: 'Copy for agents' }).click();
  await expect(page.getByText('Copied as Markdown')).toBeVisible();
  const group = await copied();
  expect(group).toContain('### POST /v1/sessions\n');
  expect(group).not.toContain('### POST /v1/sessions/:id/takeovers\n');
  await page.goto('/docs');
  await page.getByRole('button', { name: 'Copy for agents' }).click();
  await expect(page.getByText('Copied as Markdown')).toBeVisible();
  expect(await copied()).toContain('### POST /v1/sessions/:id/takeovers\n');
});

test('no page about the API is much longer than the others', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/docs');
  for (const address of await page.locator('.docs-groups a').evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href))) {
    await page.goto(address);
    expect.soft(await page.evaluate(() => document.documentElement.scrollHeight), address).toBeLessThan(8_500);
  }
});
