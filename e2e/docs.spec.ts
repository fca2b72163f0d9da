import { expect, test } from './test.js';
import { signIn } from './remote.js';

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

test('a phone offers all groups, and no key', async ({ browser, baseURL }) => {
  for (const width of [390, 320]) {
    const context = await browser.newContext({ baseURL, viewport: { width, height: 568 }, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await signIn(page);
    await page.goto('/docs/takeovers');
    await expect(page.locator('.docs-search kbd')).toBeHidden();
    for (const bar of ['.docs-language', '#requestTakeover .example-bar']) {
      expect(await page.locator(bar).first().locator('button').evaluateAll((all) => new Set(all.map((each) => each.getBoundingClientRect().top)).size), bar).toBe(1);
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
  await example.getByRole('button', { name: 'Python' }).click();
  await expect(example.locator('pre:visible')).toContainText('import json');
  await expect(page.locator('.example pre[data-in="curl"]:visible')).toHaveCount(0);
  await page.reload();
  await expect(example.getByRole('button', { name: 'Python' })).toHaveAttribute('aria-pressed', 'true');
  await expect(example.locator('pre:visible')).toContainText('import json');
  await page.locator('.docs-language').getByRole('button', { name: 'curl' }).click();
  // curl opens no sockets.
  await page.goto('/docs/agents');
  await expect(page.locator('.example[data-call="commands"] pre:visible')).toContainText('new WebSocket');
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
  await example.getByRole('button', { name: 'Go', exact: true }).click();
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
