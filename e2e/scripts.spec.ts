import { expect, test } from './test.js';
import { accessible, auth, newSession, run, signIn } from './remote.js';

/** Saved scripts: they are written beside the browser, and found again on their page. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
  const { scripts } = await (await request.get('/v1/saved-scripts', { headers: auth() })).json();
  for (const { id } of scripts) await request.delete(`/v1/saved-scripts/${id}`, { headers: auth() });
});

test('a script is saved with its arguments, run again, renamed, opened and deleted', async ({ page }) => {
  await signIn(page);
  await page.getByRole('link', { name: 'Scripts' }).click();
  await expect(page.getByText('No saved scripts yet')).toBeVisible();
  await accessible(page, 'scripts, empty');

  await page.goto('/');
  await newSession(page);
  const menu = page.locator('[data-menu="script-menu"]');
  await menu.click();
  await page.getByRole('button', { name: 'Arguments…' }).click();
  const args = page.getByLabel('Arguments as JSON');
  await args.fill('{ n: 5 }');
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page.locator('#args-dialog').getByRole('alert')).toContainText('not JSON');
  await accessible(page, 'arguments');
  await args.fill('{ "n": 5 }');
  await page.getByRole('button', { name: 'Apply' }).click();
  await run(page, 'return args.n * 2');
  await expect(page.locator('[data-result]')).toHaveText('10');

  await page.keyboard.press('ControlOrMeta+S');
  await page.getByRole('textbox', { name: 'Name' }).fill('Double it');
  await accessible(page, 'save');
  await page.locator('#save-dialog').getByRole('button', { name: 'Save' }).click();
  await expect(menu).toHaveText('Double it');
  await run(page, 'return args.n * 3');
  await expect(menu).toHaveText('Double it •');
  await expect(page.locator('[data-result]')).toHaveText('15');

  // An earlier run shows its own script, and can put it back into the editor.
  await page.getByRole('tab', { name: 'Runs' }).click();
  await page.locator('.run-row').last().click();
  await expect(page.locator('[data-result]')).toHaveText('10');
  await page.getByRole('button', { name: 'Open this script' }).click();
  await expect(page.locator('.monaco-editor .view-lines')).toHaveText(/args\.n\s\*\s2/);

  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('link', { name: 'Scripts' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'Double it' });
  await expect(row).toContainText('with arguments');
  await row.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Twice');
  await page.locator('#rename-dialog').getByRole('button', { name: 'Rename' }).click();
  await expect(page.getByRole('heading', { name: 'Twice' })).toBeVisible();
  await accessible(page, 'scripts');

  await page.getByRole('button', { name: 'Open in a new session' }).click();
  await page.waitForURL('**/sessions/*');
  await expect(menu).toHaveText('Twice');
  await expect(page.locator('.monaco-editor .view-lines')).toHaveText(/args\.n\s\*\s2/);
  await page.locator('#run').click();
  await expect(page.locator('[data-result]')).toHaveText('10');

  await page.goto('/scripts');
  await page.getByRole('button', { name: 'Delete' }).first().click();
  await page.locator('#delete-dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No saved scripts yet')).toBeVisible();
});

test('an error shows the lines around it, and leads there', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  await run(page, 'const a = 1;\nawait page.locator("#none").click({ timeout: 200 });\nreturn a;');
  const frame = page.locator('[data-frame]');
  await expect(frame).toContainText('2await page.locator("#none").click({ timeout: 200 });');
  await expect(frame.locator('.frame-caret')).toHaveText(/^\s+\^$/);
  await accessible(page, 'an error with its lines');
  await frame.locator('.at-fault').click();
  await expect(page.locator('.monaco-editor')).toHaveClass(/focused/);
});
