import { expect, test, type Page } from './test.js';
import { accessible, auth, hasPicture, signIn } from './remote.js';

/** Goes from the session list to Done without a mouse: only with Tab, arrows, Enter and the texts of the page. */

test.use({ editor: true });

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

/** More tab stops than any of our pages has before the one that is wanted. */
const STOPS = 60;

/** Presses Tab until the focus is on an element that matches `selector`. Each stop on the way must be visible, and differ from the one before. */
async function tabTo(page: Page, selector: string): Promise<void> {
  let last = '';
  for (let i = 0; i < STOPS; i++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate((wanted) => {
      const element = document.activeElement as HTMLElement;
      // For some fields, a surrounding element shows the focus.
      const shown = [element, element.closest('.address-field, .filter-text, .monaco-host'), element.closest('.stage-area[data-focused]')];
      const seen = shown.some((one) => one && (getComputedStyle(one).outlineStyle !== 'none' || one.matches('[data-focused]')));
      const { x, y, width, height } = element.getBoundingClientRect();
      return { found: element.matches(wanted), name: `${element.tagName}#${element.id} ${element.className} at ${x}, ${y}`, seen: seen && width > 0 && height > 0 };
    }, selector);
    if (stop.name.startsWith('BODY')) continue; // the end of the page leads to its beginning
    expect(stop.seen, `the focus is seen on ${stop.name}`).toBe(true);
    if (stop.found) return;
    expect(stop.name, 'Tab goes on').not.toBe(last);
    last = stop.name;
  }
  throw new Error(`Tab does not lead to ${selector}`);
}

const heard = 'document.body.append(Object.assign(document.createElement("output"), { id: "heard" })); addEventListener("keydown", (e) => { document.querySelector("#heard").textContent += e.key })';

test('a session, a script and a takeover, by the keyboard alone', async ({ page, request }) => {
  await signIn(page);
  await tabTo(page, '#new-session');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/sessions/*');
  await hasPicture(page);
  const session = page.url().split('/').pop() ?? '';

  // Tab leads past the remote page, and takes no control. Enter leads into it, and then it keeps Tab.
  await tabTo(page, '#keys');
  await expect(page.locator('#keys-enter')).toBeVisible();
  await page.keyboard.type('lost');
  await page.keyboard.press('Tab');
  await expect(page.locator('#keys')).not.toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await expect(page.locator('#keys')).toBeFocused();
  await expect(page.locator('#control-words')).toHaveText('Nobody in control');
  await page.keyboard.press('Enter');
  await expect(page.locator('#keys-enter')).toBeHidden();
  await page.keyboard.press('Tab');
  await expect(page.locator('#keys')).toBeFocused();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await page.keyboard.press('Control+Alt+Enter');
  await expect(page.locator('#keys-back')).toBeFocused();
  await expect(page.locator('#keys-back')).toBeVisible();

  // After it comes the script. Arrows and Escape open and close its menu.
  await tabTo(page, '[data-menu="script-menu"]');
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('#script-save')).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await expect(page.locator('#script-menu a')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.locator('[data-menu="script-menu"]')).toBeFocused();
  await expect(page.locator('#script-menu')).toBeHidden();
  await expect(page.locator('.monaco-editor')).toBeVisible({ timeout: 30_000 });
  await tabTo(page, '.monaco-editor *');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(`await page.setContent('<title>Errand</title>'); await page.evaluate(() => { ${heard} }); const { note } = await requestTakeover('Press three keys'); return page.locator('#heard').textContent();`);
  // The editor gives Tab back.
  await page.keyboard.press('Control+M');
  await page.keyboard.press('Shift+Tab');
  await expect(page.locator('#run')).toBeFocused();
  await page.keyboard.press('Enter');

  // The takeover could be completed on this page. Its link leads to a page of its own.
  await expect(page.locator('#banner')).toBeVisible();
  const { takeovers } = (await (await request.get(`/v1/sessions/${session}/takeovers`, { headers: auth() })).json()) as { takeovers: { id: string }[] };
  await page.goto(`/takeover/${takeovers[0]?.id}`);
  await hasPicture(page);
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await tabTo(page, '#keys');
  await page.keyboard.press('Enter');
  for (const key of ['a', 'Tab', 'Escape']) await page.keyboard.press(key);
  await page.keyboard.press('Control+Alt+Enter');
  await tabTo(page, '[data-menu="tools-menu"]');
  await page.keyboard.press('Enter');
  await page.keyboard.press('End');
  await expect(page.locator('#tools-menu [data-theme-toggle]')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.locator('#tools-menu'), 'Tab leads out of a menu, which closes').toBeHidden();
  await expect(page.locator('#fail')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'The code did not arrive' })).toBeFocused(); // no keyboard opens for a ready reason
  await page.keyboard.press('Escape');
  await expect(page.locator('#fail')).toBeFocused();
  await tabTo(page, '#done');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Thank you' })).toBeFocused();

  const { runs } = (await (await request.get(`/v1/sessions/${session}/runs`, { headers: auth() })).json()) as { runs: { id: string }[] };
  await expect(async () => {
    const run = await (await request.get(`/v1/sessions/${session}/runs/${runs[0]?.id}`, { headers: auth() })).json();
    expect(run.result, 'what the remote page was given').toMatch(/^aTabEscape/);
  }).toPass();
});

test('keys lead through lists, to filters, and to everything else', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/catalog` } })).json();
  await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login` } });
  await signIn(page);
  const rows = page.locator('section[data-key=live] .row-link');
  await expect(rows).toHaveCount(2);
  await page.keyboard.press('j');
  await expect(rows.nth(0)).toBeFocused();
  await page.keyboard.press('j');
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.press('k');
  await expect(rows.nth(0)).toBeFocused();
  await page.keyboard.press('/');
  const search = page.getByRole('searchbox');
  await expect(search).toBeFocused();
  await page.keyboard.type('j?k/'); // in a field, they are letters
  await expect(search).toHaveValue('j?k/');
  await search.fill('');
  await search.blur();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toContainText('Go down or up in a list');
  // The list is read from its beginning, and the keys of one row stand beside each other.
  expect(await page.locator('#keys-help').evaluate((dialog) => dialog.scrollTop)).toBe(0);
  await expect(page.locator('#keys-help h3')).toHaveText(['Everywhere', 'Lists']);
  await accessible(page, 'keys');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeHidden();

  const palette = page.getByRole('combobox', { name: 'Search sessions, scripts, actions' });
  await page.keyboard.press('ControlOrMeta+k');
  await expect(palette).toBeFocused();
  const offered = page.getByRole('dialog').getByRole('option');
  await expect(offered.first()).toHaveAttribute('aria-selected', 'true');
  expect((await offered.locator('span:first-of-type').allTextContents()).slice(0, 2)).toEqual(['New session', 'New session with options']);
  // Each kind has a heading, and the page that is open is left out.
  await expect(page.locator('.palette-heading')).toContainText(['Actions', 'Live sessions', 'Pages']);
  await expect(offered.filter({ hasText: /^Sessions/ })).toHaveCount(0);
  // Sessions are told apart.
  await page.keyboard.type('demo idle'); // others have ended
  await expect(offered.locator('.meta')).toHaveText([/^Idle · \d\d:\d\d:\d\d · /, /^Idle · \d\d:\d\d:\d\d · /]);
  await expect(page.locator('.palette-heading'), 'what is searched for stands by how well it fits').toHaveCount(0);
  await palette.fill('');
  await page.keyboard.type('catalog idle');
  await expect(page.getByRole('dialog').getByRole('option').first()).toContainText('Catalog · Demo');
  await accessible(page, 'palette');
  await page.keyboard.press('Enter');
  await page.waitForURL(`/sessions/${id}`);
  await hasPicture(page);
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('share');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Share this session' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('settings');
  await page.keyboard.press('Enter');
  await page.waitForURL('/settings');
  await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Sign in' } });
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('catalog');
  await expect(offered.filter({ hasText: 'Catalog · Demo' }).locator('.meta')).toHaveText(/^Waiting · /);
});

test('the keyboard reaches all that the mouse can press, on each page of an operator', async ({ page, request, baseURL }) => {
  test.slow(); // fourteen places, each stop of which is looked at
  const create = async (): Promise<string> => (await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login`, capture: true } })).json()).id;
  const [over, live] = [await create(), await create()];
  const recording = async (data: object) => (await request.post(`/v1/sessions/${over}/recording`, { headers: auth(), data })).json();
  await recording({ action: 'start', trajectoryBundle: true });
  const code = "await page.getByLabel('Email').fill('ann');\nawait requestTakeover('Enter the code', { timeout: 1_000 });";
  await request.post(`/v1/sessions/${over}/scripts`, { headers: auth(), data: { code, filename: 'walk.ts', wait: true } });
  const { trajectoryBundle } = await recording({ action: 'stop' });
  await request.post(`/v1/sessions/${over}/release`, { headers: auth(), data: {} });
  const saved = await (await request.post('/v1/saved-scripts', { headers: auth(), data: { name: 'walk', code } })).json();
  await request.post(`/v1/sessions/${live}/takeovers`, { headers: auth(), data: { reason: 'Choose a colour' } });
  const profile = await (await request.post('/v1/profiles', { headers: auth(), data: { name: 'walk', session: live } })).json();
  await signIn(page);
  for (const path of ['/', '/takeovers', '/trajectories', `/trajectories/${trajectoryBundle.trajectory_id}`, '/scripts', '/profiles', '/settings', '/docs', '/docs/sessions', `/sessions/${over}`, `/sessions/${over}#script`, '/sessions/none', `/sessions/${live}`]) {
    await page.goto(path);
    if (path.endsWith(live)) await expect(page.locator('#control-button')).toBeEnabled();
    await page.evaluate(() => {
      (document.activeElement as HTMLElement).blur();
      Object.assign(window, { stops: new Set<Element>() }); // a list that is drawn again keeps its elements, but no attributes of ours
    });
    const unseen = new Set<string>();
    // The focus may begin in the middle of a page, whose end leads to its beginning.
    for (let rounds = 0; rounds < 2;) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const one = document.activeElement as HTMLElement;
        const { stops } = window as unknown as { stops: Set<Element> };
        if (one === document.body || stops.has(one)) return null;
        stops.add(one);
        const shown = [one, one.closest('.address-field, .filter-text, .monaco-host, .row, .requests tr, .trajectories tr, .choice, .stage-area[data-focused]')];
        const { width, height } = one.getBoundingClientRect();
        return { name: one.outerHTML.slice(0, 100), seen: width > 0 && height > 0 && shown.some((each) => each && (getComputedStyle(each).outlineStyle !== 'none' || each.matches('[data-focused]'))) };
      });
      if (!stop) rounds++;
      else if (!stop.seen) unseen.add(stop.name);
      if (path.endsWith(live) && await page.locator('.monaco-editor :focus').count()) await page.keyboard.press('Control+M'); // the editor gives Tab back
    }
    expect([...unseen], `${path}: the focus is seen`).toEqual([]);
    // Arrows lead through tabs, options and rows of events; the rest of what a mouse can press is a stop, or belongs to one.
    const missed = await page.evaluate(() => {
      const { stops } = window as unknown as { stops: Set<Element> };
      const reached = [...stops];
      const links = new Set(reached.map((one) => one.getAttribute('href')));
      return [...document.querySelectorAll<HTMLElement>('body *')]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }) && ['pointer', 'copy'].includes(getComputedStyle(one).cursor))
        .filter((one) => !one.closest('[role=tablist], [role=listbox], [role=slider], .monaco-editor, .stage-area, label, dialog') && !reached.some((stop) => stop.contains(one) || one.contains(stop)))
        .filter((one) => !links.has(one.closest('a')?.getAttribute('href') ?? ''))
        .map((one) => one.outerHTML.slice(0, 100));
    });
    expect(missed, `${path}: only for a mouse`).toEqual([]);
  }
  for (const kept of [`saved-scripts/${saved.id}`, `profiles/${profile.id}`]) expect((await request.delete(`/v1/${kept}`, { headers: auth() })).ok(), kept).toBe(true);
});

test('a page that looks back, by the keyboard alone', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login`, capture: true } })).json();
  const code = "await page.getByLabel('Email').fill('ann');\nawait page.getByText('none').click({ timeout: 200 });";
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, filename: 'walk.ts', wait: true } });
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await signIn(page);
  // The list leads to the session, whose page shows the line that failed.
  await page.goto('/');
  await page.keyboard.press('j');
  await expect(page.locator(`[data-key="${id}"] .row-link`)).toBeFocused();
  await page.keyboard.press('Enter');
  await page.waitForURL(`/sessions/${id}`);
  await tabTo(page, '#failed-line');
  await page.keyboard.press('Enter');
  await expect(page.locator('.ended-script .at-fault')).toBeInViewport();
  // It has the focus, and Shift Tab leads back to the tabs.
  await page.keyboard.press('Shift+Tab');
  await expect(page.getByRole('tab', { name: 'Script' })).toBeFocused();
  for (const tab of ['Files', 'Steps', 'Events']) {
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('tab', { name: tab })).toBeFocused();
    await expect(page.getByRole('tab', { name: tab })).toHaveAttribute('aria-selected', 'true');
  }
  await tabTo(page, '#events-list');
  await page.keyboard.press('End');
  await expect(page.locator('#events-list .event[aria-selected="true"]')).toBeVisible();
  await tabTo(page, '[role=slider]');
  await page.keyboard.press('Home');
  await expect(page.locator('#moment-none')).toBeVisible();
  await page.keyboard.press('End');
  await expect(page.locator('#moment-none')).toBeHidden();
  await tabTo(page, '#run-again');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => !url.pathname.endsWith(id));
  await expect(page.locator('#output')).toContainText('fill');
});
