import { expect, test, type Page } from './test.js';
import { auth, newSession, run, signIn } from './remote.js';

/** The script editor: it knows what scripts can use, and looks right. */

test.use({ editor: true });

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

/** Opens a session whose script is empty, with the cursor in the editor. */
async function openEditor(page: Page): Promise<void> {
  await signIn(page);
  await newSession(page);
  await expect(page.locator('.monaco-editor')).toBeVisible({ timeout: 30_000 });
  await page.locator('.monaco-editor .view-lines').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
}

/** Returns the names in the list of completions. */
const names = (page: Page) => page.locator('.suggest-widget.visible .monaco-list-row .label-name');

const code = (page: Page) => page.locator('.monaco-editor .view-lines');

test('completion offers what scripts can use, and puts in what is picked', async ({ page }) => {
  await openEditor(page);
  await page.keyboard.type('page.getBy');
  await expect(names(page).filter({ hasText: /^getByRole$/ })).toBeVisible({ timeout: 30_000 });
  await expect(names(page)).toContainText(['getByAltText', 'getByLabel', 'getByPlaceholder', 'getByRole', 'getByText', 'getByTitle']);
  const cut = await names(page).evaluateAll((all) => all.filter((name) => name.getBoundingClientRect().right > (name.closest('.monaco-icon-label')?.getBoundingClientRect().right ?? 0) + 1).map((name) => name.textContent));
  expect(cut, 'names have the room').toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(code(page)).toHaveText('page.getByLabel');

  for (const [typed, offered] of [
    ['context.cook', 'cookies'],
    ['expect(page).toHaveT', 'toHaveTitle'],
    ['requestT', 'requestTakeover'],
    ['request.po', 'post'],
    ['TakeoverF', 'TakeoverFailedError'],
    ['ar', 'args'],
  ] as const) {
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(typed);
    await expect(names(page).filter({ hasText: new RegExp(`^${offered}$`) })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(names(page)).toHaveCount(0);
    await page.keyboard.press('Control+Space');
    await expect(names(page).filter({ hasText: new RegExp(`^${offered}$`) })).toBeVisible();
    await page.keyboard.press('Escape');
  }
});

test('nothing is offered that scripts do not have', async ({ page }) => {
  await openEditor(page);
  await page.keyboard.type('browser.');
  await expect(names(page).filter({ hasText: /^newPage$/ })).toBeVisible({ timeout: 30_000 });
  await page.keyboard.type('startTr');
  await expect(names(page).filter({ hasText: /^startTracing$/ })).toHaveCount(0);
});

test('styles of the page do not reach into the editor', async ({ page }) => {
  await openEditor(page);
  // The parts with the most class names: the list, its documentation, and the search.
  await page.keyboard.type('page.goto');
  await expect(page.locator('.suggest-widget .monaco-list-row.focused .label-name')).toHaveText('goto', { timeout: 30_000 });
  // The key shows the documentation of the focused name, unless the list is just being updated.
  const docs = page.locator('.suggest-details .docs');
  await expect(async () => {
    if (!await docs.isVisible()) await page.keyboard.press('Control+Space');
    await expect(docs).toContainText('Returns the main resource response', { timeout: 5_000 });
  }).toPass({ timeout: 60_000 });
  expect.soft(await strays(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+F');
  await expect(page.locator('.find-widget.visible .button').first()).toBeVisible();
  expect.soft(await strays(page)).toEqual([]);
});

/** Returns the rules of the page's stylesheet that name a class and match something inside the editor. */
function strays(page: Page): Promise<string[]> {
  return page.locator('.monaco-editor').evaluate((editor) => {
    const rulesIn = (list: CSSRuleList): CSSStyleRule[] => [...list].flatMap((rule) => [
      ...(rule instanceof CSSStyleRule ? [rule] : []),
      ...('cssRules' in rule ? rulesIn(rule.cssRules as CSSRuleList) : []),
    ]);
    const sheet = [...document.styleSheets].find(({ href }) => href?.includes('/takeover-'));
    if (!sheet) throw new Error('the page has no stylesheet of its own');
    // Intended: the mark of a line with an error.
    const selectors = rulesIn(sheet.cssRules).flatMap(({ selectorText }) => selectorText.split(/,(?![^(]*\))/));
    const named = selectors.filter((selector) => /\.[a-z]/.test(selector) && !/monaco|line-error/.test(selector));
    const inside = [...editor.querySelectorAll('*')];
    return named.filter((selector) => inside.some((element) => element.matches(selector)));
  });
}

test('a text that is put into the editor keeps its indentation', async ({ page, request }) => {
  await signIn(page);
  const id = await newSession(page);
  const code = `for (const word of ['one', 'two']) {\n  if (word) {\n    console.log(word);\n  }\n}\nreturn 'done';`;
  await run(page, code);
  const runs = async (): Promise<{ id: string }[]> => (await (await request.get(`/v1/sessions/${id}/runs`, { headers: auth() })).json()).runs;
  await expect.poll(async () => (await runs()).length).toBe(1);
  const script = await (await request.get(`/v1/sessions/${id}/runs/${(await runs())[0]!.id}/script`, { headers: auth() })).json();
  expect(script.code).toBe(code);
});
