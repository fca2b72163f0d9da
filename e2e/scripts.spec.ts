import { expect, test } from './test.js';
import { accessible, auth, newSession, run, signIn } from './remote.js';

/** What people keep under a name: scripts are written beside the browser, and found again on their page; so are profiles. */

test.use({ editor: true });

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
  await expect(row).toContainText(/changed (just now|\d+ s ago)/);
  await expect(row.getByRole('link')).toHaveText(/^Succeeded (just now|\d+ s ago)$/);
  await row.getByRole('button', { name: 'More about Double it' }).click();
  await row.getByRole('button', { name: 'Rename…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Twice');
  await page.locator('#rename-dialog').getByRole('button', { name: 'Rename' }).click();
  await expect(page.getByRole('heading', { name: 'Twice' })).toBeVisible();
  await accessible(page, 'scripts');

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.waitForURL('**/sessions/*');
  await expect(menu).toHaveText('Twice');
  await expect(page.locator('.monaco-editor .view-lines')).toHaveText(/args\.n\s\*\s2/);
  await page.locator('#run').click();
  await expect(page.locator('[data-result]')).toHaveText('10');

  // It runs from its page, too.
  await page.goto('/scripts');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForURL('**/sessions/*');
  await expect(menu).toHaveText('Twice');
  await expect(page.locator('[data-result]')).toHaveText('10');

  // The row says how that ended, and leads there.
  const session = new URL(page.url()).pathname;
  await page.goto('/scripts');
  const last = page.getByRole('link', { name: /^Succeeded (just now|\d+ s ago)$/ });
  await accessible(page, 'scripts, with a run');
  await last.click();
  await expect.poll(() => new URL(page.url()).pathname).toBe(session);

  await page.goto('/scripts');
  await page.getByRole('button', { name: 'More about Twice' }).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.locator('#delete-dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No saved scripts yet')).toBeVisible();
});

test('a new script has a name, and a sample its code', async ({ page, request }) => {
  await signIn(page);
  await page.goto('/scripts');
  const sample = page.locator('.sample').filter({ hasText: 'Read a table' });
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    for (const part of [sample.getByText('Returns the table of a page: a list for each row.', { exact: true }), sample.locator('pre')]) {
      expect(await part.evaluate((shown) => shown.scrollWidth - shown.clientWidth), 'no line is cut').toBe(0);
    }
    expect((await sample.locator('pre').boundingBox())?.height, 'four lines of code').toBeLessThanOrEqual(80);
  }
  await page.getByRole('button', { name: 'Use this: Read a table from a page' }).click();
  await page.waitForURL('**/sessions/*');
  await expect(page.locator('.monaco-editor .view-lines')).toContainText('Returns the table of a page');
  await page.locator('#run').click();
  await expect(page.locator('[data-result]')).toContainText('Plant pot');

  await page.goto('/scripts');
  await page.getByRole('button', { name: 'New script' }).click();
  await accessible(page, 'new script');
  await page.getByRole('textbox', { name: 'Name' }).fill(' ');
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.locator('#new-dialog').getByRole('alert')).toBeVisible();
  await page.getByRole('textbox', { name: 'Name' }).fill('Check the shop');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL('**/sessions/*');
  await expect(page.locator('[data-menu="script-menu"]')).toHaveText('Check the shop');
  const { sessions } = await (await request.get('/v1/sessions?status=live', { headers: auth() })).json();
  expect(sessions).toHaveLength(2); // none is left of the name that was refused
});

test('an error shows the lines around it, and leads there', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  await run(page, 'const a = 1;\nawait page.locator("#none").click({ timeout: 200 });\nreturn a;');
  await expect(page.locator('[data-error]')).toContainText('Timeout 200ms exceeded');
  const failed = page.locator('.output-line.error');
  await expect(failed).toContainText("locator('#none').click()");
  await expect(failed, 'the step does not say it again').not.toContainText('Timeout');
  const frame = page.locator('[data-frame]');
  await expect(frame).toContainText('2await page.locator("#none").click({ timeout: 200 });');
  await expect(frame.locator('mark')).toHaveText('click');
  await accessible(page, 'an error with its lines');
  await frame.locator('.at-fault').click();
  await expect(page.locator('.monaco-editor')).toHaveClass(/focused/);

  await run(page, `await Promise.all([${'1, '.repeat(60)}page.locator("#none").click({ timeout: 200 })]);`);
  await expect(frame.locator('mark'), 'the mark in a long line is in sight').toBeInViewport({ ratio: 1 });
  await expect(frame.locator('mark')).toHaveText('click');
  expect(await frame.evaluate((element) => element.scrollWidth - element.clientWidth), 'nothing is cut').toBe(0);
});

test('profiles are listed, used by a new session, renamed and deleted', async ({ page, request, baseURL }) => {
  await signIn(page);
  await page.goto('/profiles');
  await expect(page.getByText('No profiles yet')).toBeVisible();
  await accessible(page, 'profiles, empty');
  await page.getByRole('button', { name: 'New profile' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Bank');
  await accessible(page, 'new profile');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL('**/sessions/*');
  await request.post(`/v1${new URL(page.url()).pathname}/release`, { headers: auth(), data: {} });
  await page.goto('/profiles');
  await page.getByRole('button', { name: 'More about Bank' }).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.locator('#delete-dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No profiles yet')).toBeVisible();
  const state = { cookies: [{ name: 'kept', value: '1', domain: '127.0.0.1', path: '/', expires: -1, httpOnly: false, secure: false, sameSite: 'Lax' }], origins: [{ origin: baseURL, localStorage: [{ name: 'a', value: 'b' }] }] };
  const made = await request.post('/v1/profiles', { headers: auth(), data: { name: 'Shop', storageState: state } });
  expect(made.ok()).toBe(true);
  await page.reload();
  const row = page.getByRole('listitem').filter({ hasText: 'Shop' });
  await expect(row).toContainText('1 site');
  await expect(row).toContainText('1 cookie');
  await expect(row).toContainText(/changed (just now|\d+ s ago)/);
  await expect(row).toContainText(baseURL ?? '');
  await accessible(page, 'profiles');
  await row.getByRole('button', { name: 'More about Shop' }).click();
  await row.getByRole('button', { name: 'Rename…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('The shop');
  await page.locator('#rename-dialog').getByRole('button', { name: 'Rename' }).click();
  await expect(page.getByRole('heading', { name: 'The shop' })).toBeVisible();

  await page.getByRole('button', { name: 'Start a session' }).click();
  await page.waitForURL('**/sessions/*');
  await page.goto('/profiles');
  await expect(page.getByRole('listitem').filter({ hasText: 'The shop' })).toContainText('used by 1 live session');
  await page.goto('/');
  await page.getByRole('button', { name: 'Options' }).click();
  await page.locator('select[name=profile]').selectOption('The shop');
  await page.getByLabel('Address to open').fill(`${baseURL}/demo/login`);
  await accessible(page, 'options with a profile');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL('**/sessions/*');
  await run(page, 'return (await context.cookies()).map(({ name }) => name)');
  await expect(page.locator('[data-result]')).toContainText('kept');

  await page.goto('/profiles');
  await page.getByRole('button', { name: 'More about The shop' }).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.locator('#delete-dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No profiles yet')).toBeVisible();
});

test('what people keep is searched by the address, and the palette leads to a script', async ({ page, request }) => {
  const save = (name: string, code: string) => request.post('/v1/saved-scripts', { headers: auth(), data: { name, code } });
  await signIn(page);
  await save('Check the shop', 'await page.goto("https://shop.example")');
  await save('Pay a bill', 'return 1');
  await page.goto('/scripts');
  await page.locator('h1').click();
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox', { name: 'Filter by name or code' })).toBeFocused();
  await page.keyboard.type('shop.example');
  await expect(page).toHaveURL('/scripts?q=shop.example');
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  await expect(row('Pay a bill')).toBeHidden();
  await expect(row('Check the shop')).toBeVisible();
  await accessible(page, 'scripts, searched');
  await page.reload();
  await expect(row('Pay a bill')).toBeHidden();
  await page.getByRole('searchbox').fill('none of them');
  await expect(page.getByText('No script matches “none of them”.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(page).toHaveURL('/scripts');
  await expect(row('Pay a bill')).toBeVisible();

  await page.locator('h1').click();
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('Pay a bill');
  await page.keyboard.press('Enter'); // perhaps before the server has said what there is
  await expect(row('Pay a bill').getByRole('button', { name: 'Run', exact: true })).toBeFocused();

  // Requests for a person are found by what they ask, and by how they ended.
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Open the depot' } })).json();
  await request.post(`/v1/sessions/${id}/takeovers/${asked.id}/cancel`, { headers: auth(), data: {} });
  await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Weigh the parcel' } });
  await page.goto('/takeovers?q=parcel');
  await expect(page.getByRole('row').filter({ hasText: 'Weigh the parcel' })).toBeVisible();
  await expect(page.getByText('Open the depot', { exact: true })).toHaveCount(0);
  await page.getByRole('searchbox').fill('cancelled depot');
  await expect(page.getByText('Open the depot', { exact: true })).toBeVisible();
  await expect(page.getByText('Weigh the parcel')).toHaveCount(0);
  await accessible(page, 'takeovers, searched');
  await page.getByRole('searchbox').fill('parcel');
  await page.getByRole('button', { name: /^Cancelled/ }).click();
  await expect(page).toHaveURL('/takeovers?q=parcel&state=cancelled');
  await expect(page.getByText('No takeover matches “parcel” and the chosen filters.')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Cancelled/ })).toHaveText('Cancelled0');
  await expect(page.getByRole('button', { name: /^Waiting/ }), 'within the text').toHaveText('Waiting1');
  await page.getByRole('button', { name: /^Waiting/ }).click();
  await expect(page.getByRole('row').filter({ hasText: 'Weigh the parcel' })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('row').filter({ hasText: 'Weigh the parcel' })).toBeHidden();
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
});
