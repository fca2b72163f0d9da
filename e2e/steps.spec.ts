import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { PERSONS } from './chromium.js';
import { auth, explore, hasPicture, PASSWORD, Receipts, Remote, signIn, type Point } from './remote.js';
import { expect, test } from './test.js';

/** What a person does in a takeover, as a script. */

const runner = join(createRequire(import.meta.url).resolve('@playwright/test/package.json'), '../cli.js');

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('what a person did is a script that does it again, here and in Playwright', async ({ page, browser, request, baseURL }, info) => {
  const own = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const place = async (path: string, find: (at: typeof own) => ReturnType<typeof own.locator>, before = async (): Promise<void> => {}): Promise<Point> => {
    await own.goto(`${baseURL}/demo/${path}`);
    await before();
    const box = await find(own).boundingBox();
    if (!box) throw new Error(`nothing at ${path}`);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const booking = await place('', (at) => at.getByRole('link', { name: 'Booking' }));
  const name = await place('wizard', (at) => at.getByLabel('Your name'));
  const email = await place('wizard', (at) => at.getByLabel('Email'));
  const next = await place('wizard', (at) => at.getByRole('button', { name: 'Next' }));
  const password = await place('login', (at) => at.getByLabel('Password'));
  const more = await place('catalog', (at) => at.getByRole('link', { name: 'Next' }));
  const item = await place('catalog?page=2', (at) => at.locator('.items a').first());
  const wanted = await own.locator('.items a').first().textContent() ?? '';
  await own.close();

  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/`, capture: true } })).json();
  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: "Look at the catalog's second page", steps: true } })).json();
  const title = async (): Promise<string> => (await (await request.get(`/v1/sessions/${id}`, { headers: auth() })).json()).title;
  await signIn(page);
  const receipts = new Receipts(page);
  await page.goto(`/sessions/${id}`);
  await hasPicture(page);
  await page.locator('#banner').getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  const remote = new Remote(page);
  await remote.click(booking);
  await expect.poll(title).toContain('Booking');
  await remote.click(name);
  await page.keyboard.type('Ada');
  await remote.click(email);
  await page.keyboard.type('ada@example.com');
  await remote.click(next);
  const go = async (path: string): Promise<void> => {
    await receipts.all(); // a page that is left need not handle what was pressed before
    await page.locator('#address').fill(`${baseURL}/demo/${path}`);
    await page.locator('#address').press('Enter');
  };
  await go('login');
  await expect.poll(title).toContain('Sign in');
  await remote.click(password);
  await page.keyboard.type('a secret of ours');
  await go('catalog');
  await expect.poll(title).toContain('Catalog');
  await remote.click(more);
  // A person sees the page before they press on it.
  await expect(page.locator('#address')).toHaveValue(/page=2/);
  await expect(page.getByRole('button', { name: 'Reload' })).toBeVisible();
  await remote.click(item);
  await expect.poll(title).toContain(wanted);
  await page.locator('#banner').getByRole('button', { name: 'Done', exact: true }).click();

  const path = `/v1/sessions/${id}/takeovers/${asked.id}`;
  await expect.poll(async () => (await (await request.get(path, { headers: auth() })).json()).state).toBe('done');
  const script = await (await request.get(`${path}/script.ts`, { headers: auth() })).text();
  for (const line of [
    `await page.goto('${baseURL}/demo/');`, "await page.getByRole('link', { name: 'Booking' }).click();", "await page.getByRole('textbox', { name: 'Your name' }).fill('Ada');",
    "await page.getByRole('textbox', { name: 'Email' }).fill('ada@example.com');", "await page.getByRole('button', { name: 'Next' }).click();", `await page.goto('${baseURL}/demo/login');`,
    ".fill(secrets.password);", `await page.goto('${baseURL}/demo/catalog');`, "await page.getByRole('link', { name: 'Next' }).click();", `{ name: '${wanted}' }).click();`,
  ]) expect(script).toContain(line);
  expect(script).not.toContain('a secret of ours');
  expect(await (await request.get(path, { headers: auth() })).text()).not.toContain('a secret of ours');

  // Ours runs it, and Playwright's own runner does.
  await expect.poll(title).toContain(wanted);
  const ran = await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: script, filename: 'again.spec.ts', wait: true } })).json();
  expect(ran.error, `${script} ${JSON.stringify(ran.steps)}`).toBeNull();
  expect(ran.status).toBe('succeeded');
  expect(ran.tests).toMatchObject([{ status: 'passed' }]);
  const folder = info.outputPath('again');
  await writeFile(join(info.outputDir, 'again.spec.ts'), script);
  await writeFile(join(info.outputDir, 'playwright.config.mjs'), `export default { testDir: ${JSON.stringify(info.outputDir)}, outputDir: ${JSON.stringify(folder)}, reporter: 'line', use: { launchOptions: { executablePath: ${JSON.stringify(PERSONS)}, args: ['--no-sandbox'] } } };`);
  const { stdout } = await promisify(execFile)(process.execPath, [runner, 'test', '-c', join(info.outputDir, 'playwright.config.mjs')], { cwd: info.outputDir });
  expect(stdout).toContain('1 passed');

  const recorder = await (await request.get(`${path}/recorder.json`, { headers: auth() })).json();
  expect(recorder.steps.map(({ type }: { type: string }) => type)).toEqual(['setViewport', 'navigate', 'click', 'change', 'change', 'click', 'navigate', 'change', 'navigate', 'click', 'click']);
});

test('a script that learns from a person asks only once, and then only where it fails', async ({ page, browser, request, baseURL }) => {
  const own = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const place = async (path: string, name: string): Promise<Point> => {
    await own.goto(`${baseURL}/demo/${path}`);
    const box = await own.getByRole('link', { name }).boundingBox();
    if (!box) throw new Error(`no ${name}`);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const [catalog, next, towel] = [await place('', 'Catalog'), await place('catalog', 'Next'), await place('catalog?page=2', 'Linen towel')];
  await own.close();
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/`, capture: true } })).json();
  const run = async (until: string): Promise<string> => {
    const code = `await page.goto('${baseURL}/demo/');
      const { by } = await requestTakeover('Find the towel', { learn: 'the towel', until: '${until}' });
      return { by, title: await page.title() };`;
    return (await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code } })).json()).id;
  };
  const outcome = async (runID: string): Promise<{ status: string; result: { by: string; title: string } }> => {
    const read = async (): Promise<{ status: string; result: { by: string; title: string } }> => (await request.get(`/v1/sessions/${id}/runs/${runID}`, { headers: auth() })).json();
    await expect.poll(async () => (await read()).status, { timeout: 40_000 }).toMatch(/succeeded|failed/);
    return read();
  };
  const title = async (): Promise<string> => (await (await request.get(`/v1/sessions/${id}`, { headers: auth() })).json()).title;
  const waits = async (): Promise<string> => (await (await request.get(`/v1/sessions/${id}`, { headers: auth() })).json()).takeover?.state;

  const first = await run('**/demo/catalog?page=2');
  await signIn(page);
  await page.goto(`/sessions/${id}`);
  await hasPicture(page);
  await page.locator('#banner').getByRole('button', { name: 'Take control' }).click();
  const remote = new Remote(page);
  await remote.click(catalog);
  await expect.poll(title).toContain('Catalog');
  await remote.click(next);
  expect(await outcome(first)).toMatchObject({ status: 'succeeded', result: { by: expect.stringContaining('viewer:') } });
  // Nobody is needed the second time.
  expect(await outcome(await run('**/demo/catalog?page=2'))).toMatchObject({ status: 'succeeded', result: { by: 'learned' } });
  const asked = await (await request.get(`/v1/sessions/${id}/takeovers`, { headers: auth() })).json();
  expect(asked.takeovers).toHaveLength(1);
  // What leads no longer to the aim is gone on with by a person, who begins where the steps ended.
  const third = await run('**/demo/items/*');
  await expect.poll(waits, { timeout: 30_000 }).toBe('pending');
  await page.locator('#banner').getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await remote.click(towel);
  expect((await outcome(third)).result.title).toContain('Linen towel');
  expect(await outcome(await run('**/demo/items/*'))).toMatchObject({ result: { by: 'learned', title: expect.stringContaining('Linen towel') } });
  const { scripts } = await (await request.get('/v1/saved-scripts', { headers: auth() })).json();
  const [saved] = scripts.filter(({ name }: { name: string }) => name === 'the towel');
  expect(saved.steps.steps.map(({ kind }: { kind: string }) => kind)).toEqual(['click', 'click', 'click']);
  expect(saved.code).toContain("await page.getByRole('link', { name: 'Linen towel' }).click();");
  await request.delete(`/v1/saved-scripts/${saved.id}`, { headers: auth() });
});

test('what was secret is filled in again, but on no other site', async ({ page, browser, request, baseURL }) => {
  const places = await explore(await (await browser.newContext()).newPage());
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/`, capture: true } })).json();
  const run = async (at: string, secrets: object): Promise<string> => {
    const code = `await page.goto('${at}/demo/login');
      return (await requestTakeover('Sign in', { learn: 'demo sign-in', until: '**/demo/captcha', secrets: args })).by;`;
    return (await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, args: secrets } })).json()).id;
  };
  const read = async (runID: string): Promise<{ status: string; result: string }> => (await request.get(`/v1/sessions/${id}/runs/${runID}`, { headers: auth() })).json();
  const ends = async (runID: string): Promise<string> => {
    // With the address: whoever reads that it never ended asks where the person was.
    const where = async (): Promise<object> => ({ ...(await read(runID)), url: (await (await request.get(`/v1/sessions/${id}`, { headers: auth() })).json()).url });
    await expect.poll(where, { timeout: 40_000 }).toMatchObject({ status: expect.stringMatching(/succeeded|failed/) });
    return (await read(runID)).result;
  };
  const first = await run(baseURL ?? '', {});
  await signIn(page);
  await page.goto(`/sessions/${id}`);
  await hasPicture(page);
  await page.locator('#banner').getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  const remote = new Remote(page);
  await remote.click(places.email);
  await page.keyboard.type('demo@example.com');
  await remote.click(places.password);
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  expect(await ends(first)).toContain('viewer:');
  expect(await ends(await run(baseURL ?? '', { password: PASSWORD }))).toBe('learned');
  // The same page on another host gets the address, but not the password.
  const other = await run((baseURL ?? '').replace('127.0.0.1', 'localhost'), { password: PASSWORD });
  await expect.poll(async () => (await read(other)).status, { timeout: 30_000 }).toBe('waiting');
  await remote.click(places.password); // a person sees what is there
  const { scripts } = await (await request.get('/v1/saved-scripts', { headers: auth() })).json();
  const [saved] = scripts.filter(({ name }: { name: string }) => name === 'demo sign-in');
  expect(JSON.stringify(saved)).not.toContain(PASSWORD);
  expect(saved.steps.steps.map(({ kind, secret, origin }: { kind: string; secret?: string; origin?: string }) => [kind, secret, origin])).toEqual([
    ['fill', undefined, undefined], ['fill', 'password', baseURL], ['press', undefined, undefined],
  ]);
  const { id: asked } = (await (await request.get(`/v1/sessions/${id}`, { headers: auth() })).json()).takeover;
  await request.post(`/v1/sessions/${id}/takeovers/${asked}/cancel`, { headers: auth() });
  await ends(other);
  const steps = (await (await request.get(`/v1/sessions/${id}/runs/${other}`, { headers: auth() })).json()).steps.map(({ title }: { title: string }) => title);
  expect(steps.join()).toContain("fill('demo@example.com')");
  expect(steps.join()).not.toContain(PASSWORD);
  await request.delete(`/v1/saved-scripts/${saved.id}`, { headers: auth() });
});
