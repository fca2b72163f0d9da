import { expect, test } from './test.js';
import { signIn } from './remote.js';

/** The API as a page: its search, its examples, its addresses. */

test.beforeEach(async ({ page }) => {
  await signIn(page);
  await page.goto('/docs');
});

test('the search finds calls by all of its words, and Enter opens the first', async ({ page }) => {
  await page.keyboard.press('/');
  const search = page.getByRole('searchbox', { name: 'Search the calls' });
  await expect(search).toBeFocused();
  await search.fill('takeover reason post');
  const found = page.locator('.docs-index [data-search]:visible');
  await expect(found).toHaveCount(2); // both calls have a reason: asking, and failing
  await search.press('Enter');
  await expect(page).toHaveURL(/#requestTakeover$/);
  await expect(page.getByRole('heading', { name: 'POST /v1/sessions/:id/takeovers', exact: true })).toBeInViewport();
  await search.fill('nothing has this');
  await expect(page.getByText('No call matches.')).toBeVisible();
  await search.press('Escape');
  await expect(page.getByRole('link', { name: 'Get started' })).toBeVisible();
});

test('all examples change their language together, and the next visit begins with it', async ({ page }) => {
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
  await expect(page.locator('.example[data-call="commands"] pre:visible')).toContainText('new WebSocket');
});

test('the copied example is the one that is shown', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const example = page.locator('.example[data-call="getSession"]');
  await example.getByRole('button', { name: 'Go', exact: true }).click();
  await example.getByRole('button', { name: 'Copy the example of getSession' }).click();
  await expect(page.getByText('Example copied')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('package main');
});

test('every address within the page leads somewhere', async ({ page }) => {
  const lost = await page.evaluate(() => [...document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')]
    .map((link) => link.getAttribute('href') ?? '').filter((href) => !document.getElementById(href.slice(1))));
  expect(lost).toEqual([]);
});
