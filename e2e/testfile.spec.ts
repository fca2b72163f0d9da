import { expect, test } from './test.js';
import { accessible, auth, newSession, run, signIn } from './remote.js';

/** The results of a Playwright Test file are listed under the editor, test by test. */

test.use({ editor: true });

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('a test file shows its tests as they end, and where one failed', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  await run(page, [
    `import { test, expect } from '@playwright/test';`,
    `test('adds', async ({ page }) => { await expect(page).toHaveURL('about:blank'); });`,
    `test.describe('group', () => { test('fails', () => { throw new Error('boom'); }); });`,
    `test.skip('later', () => {});`,
  ].join('\n'));
  const rows = page.getByRole('list', { name: 'Tests' }).getByRole('listitem');
  await expect(rows).toHaveCount(3);
  await expect(rows.nth(0)).toContainText(/adds.*m?s/);
  await expect(rows.nth(0).getByRole('img', { name: 'passed' })).toBeVisible();
  await expect(rows.nth(1).getByRole('img', { name: 'failed' })).toBeVisible();
  await expect(rows.nth(1)).toContainText('group › fails');
  await expect(rows.nth(1)).toContainText('boom');
  await expect(rows.nth(2)).toContainText('skipped');
  await expect(page.locator('#output-words')).toHaveText('Failed · 1 passed, 1 failed, 1 skipped');
  await accessible(page, 'tests');
  await rows.nth(1).getByRole('button', { name: 'line 3' }).click();
  await expect(page.locator('.monaco-editor')).toHaveClass(/focused/);

  await page.getByRole('tab', { name: 'Runs' }).click();
  await expect(page.locator('.run-row')).toContainText('1 passed, 1 failed, 1 skipped');
  await page.locator('.run-row').click();
  await expect(rows).toHaveCount(3);
});
