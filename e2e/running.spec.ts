import { expect, test } from './test.js';
import { accessible, auth, coloured, getCookie, hasPicture, newSession, signIn } from './remote.js';

test.use({ editor: true });

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('a run shows where it is: the call that lasts, and its line', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  await expect(page.locator('.monaco-editor').first()).toBeVisible({ timeout: 60_000 });
  await page.locator('.monaco-editor').first().click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText("for (let i = 0; i < 60; i++) await page.title();\nawait page.waitForFunction(() => document.title === 'go');\nreturn 'done'");
  await page.locator('#run').click();
  const now = page.locator('.output-line.now');
  await expect(now).toContainText('page.waitForFunction');
  await expect(now, 'below many others').toBeInViewport({ ratio: 1 });
  await expect(page.locator('.line-running').first()).toBeVisible();
  await expect(page.locator('#run-code'), 'the script is the one in the editor').toBeHidden();
  await page.locator('#control-button').click();
  await expect(page.locator('#output-words')).toHaveText('Running · actions wait until you give back control');
  await page.locator('#control-button').click();
  await expect(page.locator('#output-words')).toHaveText('Running');
  await page.locator('#run-stop').click();
  await expect(page.locator('#output-words')).toHaveText('Stopped');
  await expect(now).toHaveCount(0);
  await expect(page.locator('.line-running')).toHaveCount(0);
});

test('a run that a program started shows its own code, read-only', async ({ page, request }) => {
  await signIn(page);
  const id = await newSession(page);
  const code = "await page.title();\nawait page.waitForTimeout(6_000);\nconst all = `of\nit`;\nthrow new Error('no')";
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, filename: 'wait.ts' } });
  const shown = page.locator('#run-code');
  await expect(shown).toBeVisible();
  await expect(page.locator('#run-code-name')).toHaveText('wait.ts');
  await expect(page.locator('#session-script'), 'the session has its name').toHaveText('wait.ts');
  await expect(page.locator('[data-menu="script-menu"]'), 'the menu is for the own script').toBeHidden();
  await expect(shown.locator('.at-moment')).toHaveText(/waitForTimeout/);
  await accessible(page, 'the code of a run');
  await expect.poll(() => coloured(page, '#run-code-lines', 'keyword')).toEqual(['await', 'await', 'const', 'throw', 'new']);
  // The lines are drawn again when the run ends, and coloured a moment later.
  await expect.poll(() => coloured(page, '#run-code-lines', 'string'), 'also over lines').toEqual(['`', 'of', 'it', '`', "'no'"]);
  const own = await page.locator('#code').inputValue();
  await expect(shown.locator('.at-fault')).toHaveText(/throw/);
  await expect(page.locator('.code-frame'), 'they are above, in the script').toBeHidden();
  await shown.getByRole('button', { name: 'Back to your script' }).click();
  await expect(shown).toBeHidden();
  await expect.poll(() => coloured(page, '.code-frame', 'keyword')).toEqual(['const', 'throw', 'new']);
  expect(await page.locator('#code').inputValue(), 'the own script is still there').toBe(own);
  await page.getByRole('tab', { name: 'Runs' }).click();
  await page.locator('.run-row').click();
  await expect(shown, 'from the list of runs').toBeVisible();
  // What is shown runs again, not the own script.
  await page.getByRole('button', { name: 'Run again' }).click();
  const ran = async (): Promise<string[]> => (await (await request.get(`/v1/sessions/${id}/runs`, { headers: auth() })).json()).runs.map((run: { filename: string; status: string }) => `${run.filename} ${run.status}`);
  await expect.poll(ran).toEqual(['wait.ts failed', 'wait.ts failed']);
  await expect(page.getByRole('button', { name: 'Run again' }), 'it is still shown').toBeVisible();
  expect(await page.locator('#code').inputValue()).toBe(own);
  await page.getByRole('button', { name: 'Open this script' }).click();
  await expect(shown).toBeHidden();
});

test('a run that fails before the viewer is connected is shown when it is', async ({ page, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  let connect: () => void;
  const failed = new Promise<void>((resolve) => (connect = resolve));
  await page.routeWebSocket(/\/view$/, async (socket) => {
    await failed;
    socket.connectToServer();
  });
  await getCookie(page);
  await page.goto(`/sessions/${id}`);
  await expect(page.locator('#panel-runs .runs-empty'), 'the runs have been listed').toHaveCount(1);
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: "throw new Error('too early')", wait: true } });
  connect!();
  await expect(page.locator('#output-body')).toContainText('too early');
});

test('on a phone, the output of a run has the panel, and Code shows the script', async ({ browser, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `// Find what is missing${'\n'.repeat(99)}for (let i = 0; i < 9; i++) await page.title(); await page.click('#missing', { timeout: 300 });`, wait: true } });
  for (const viewport of [{ width: 390, height: 844 }, { width: 320, height: 568 }, { width: 844, height: 390 }]) {
    const context = await browser.newContext({ viewport, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await getCookie(page);
    await page.goto(`/sessions/${id}`);
    await hasPicture(page);
    if (viewport.height < 500) await page.locator('#dock-script').tap(); // held upright, it has the room below the picture from the start
    for (const button of ['#run', '#script-pane .sheet-close']) await expect(page.locator(button), `${button} at ${viewport.width} px`).toBeInViewport({ ratio: 1 });
    await expect(page.locator('#session-script')).toHaveText('Find what is missing');
    await expect(page.locator('.output-line.error'), 'the step that failed').toBeInViewport({ ratio: 1 });
    await expect(page.locator('#run-code')).toBeHidden();
    await page.getByRole('button', { name: 'Code', exact: true }).tap();
    await expect(page.locator('#run-code .at-fault')).toBeInViewport();
    await expect(page.locator('#output-body')).toBeHidden();
    await accessible(page, 'the code on a phone');
    await page.getByRole('button', { name: 'Code', exact: true }).tap();
    await expect(page.locator('#run-code')).toBeHidden();
    await page.locator('#output-body .position').first().tap(); // leads to the line
    await expect(page.locator('#run-code .at-fault')).toBeInViewport();
    await context.close();
  }
});

test('the editor counts problems, and leads to them', async ({ page }) => {
  await signIn(page);
  await newSession(page);
  const editor = page.locator('.monaco-editor').first();
  await expect(editor).toBeVisible({ timeout: 60_000 });
  await expect(page.locator('#problems')).toBeHidden();
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('\nconst = 3;');
  await expect(page.locator('#problems')).toHaveText(/^\d+ problems?$/, { timeout: 60_000 });
  await accessible(page, 'problems of a script');
  await page.locator('#problems').click();
  await expect(page.locator('.marker-widget')).toBeVisible();
  await page.keyboard.press('Escape');
  await editor.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('return 1');
  await expect(page.locator('#problems')).toBeHidden();
});
