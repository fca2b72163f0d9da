import { expect, test, type APIRequestContext, type Page } from './test.js';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accessible, auth, hasPicture, newSession, Remote, signIn, type Point } from './remote.js';

/** What a person and the remote page exchange besides pictures and input: files that are chosen, dropped and downloaded; a name and a password. */

const folder = mkdtempSync(path.join(tmpdir(), 'takeover-files-'));
const file = (name: string, text: string): string => {
  const where = path.join(folder, name);
  writeFileSync(where, text);
  return where;
};

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});
test.afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a script while the person works, and returns its result. */
async function asked<T>(request: APIRequestContext, session: string, code: string): Promise<T> {
  const run = await (await request.post(`/v1/sessions/${session}/scripts`, { headers: auth(), data: { wait: true, code } })).json();
  expect(run.error ?? null).toBeNull();
  return run.result as T;
}

/** A remote page whose global `told` lists the files that it received, by a click or a drop. */
const RECEIVER = `<title>receiver</title><body style="margin:0;height:700px;background:#cde"><script>
  window.told = [];
  const tell = async (how, files) => told.push(how + ' ' + (await Promise.all([...files].map(async f => f.name + '=' + await f.text()))).join(' '));
  const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true, accept: '.txt' });
  input.onchange = () => tell('chosen', input.files);
  input.oncancel = () => told.push('cancelled');
  addEventListener('click', () => input.click());
  addEventListener('dragover', e => e.preventDefault());
  addEventListener('drop', e => { e.preventDefault(); tell('dropped ' + e.clientX + ',' + e.clientY, e.dataTransfer.files) });
</script>`;

async function open(page: Page, request: APIRequestContext): Promise<{ session: string; remote: Remote; told: () => Promise<string[]> }> {
  await signIn(page);
  const session = await newSession(page);
  await asked(request, session, `await page.setContent(${JSON.stringify(RECEIVER)})`);
  await expect(page.getByRole('heading', { name: 'receiver' })).toBeVisible();
  await hasPicture(page);
  return { session, remote: new Remote(page), told: () => asked<string[]>(request, session, 'return page.evaluate(() => told)') };
}

test('a person gives a page the files it asks for, or none', async ({ page, request }) => {
  const { session, remote, told } = await open(page, request);
  const dialog = page.locator('#remote-chooser');
  await page.getByRole('button', { name: 'Take control' }).click();
  await remote.click({ x: 300, y: 300 });
  await expect(dialog.getByRole('heading', { name: 'The page asks for files' })).toBeVisible();
  await accessible(page, 'a page asks for files');
  const [picker] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose from this device' }).click()]);
  expect(picker.isMultiple()).toBe(true);
  await picker.setFiles([file('one.txt', 'first'), file('two.txt', 'second')]);
  await expect(dialog).toBeHidden();
  const release = page.getByRole('button', { name: 'Give back' }); // a script that reads the page waits until it may
  await release.click();
  await expect.poll(told).toEqual(['chosen one.txt=first two.txt=second']);

  await page.getByRole('button', { name: 'Take control' }).click();
  await remote.click({ x: 300, y: 300 });
  await dialog.getByRole('checkbox', { name: 'two.txt' }).check();
  await dialog.getByRole('button', { name: 'Use selected' }).click();
  await release.click();
  await expect.poll(told).toContain('chosen two.txt=second');

  await page.getByRole('button', { name: 'Take control' }).click();
  await remote.click({ x: 300, y: 300 });
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await release.click();
  await expect.poll(told).toContain('cancelled');
  const { files } = await (await request.get(`/v1/sessions/${session}/files`, { headers: auth() })).json();
  expect(files.map(({ name }: { name: string }) => name).sort()).toEqual(['one.txt', 'two.txt']);
});

test('a person drops files onto the remote page', async ({ page, request }) => {
  const { remote, told } = await open(page, request);
  const cdp = await page.context().newCDPSession(page);
  const at = await remote.at({ x: 640, y: 200 });
  const data = { items: [], files: [file('dropped.txt', 'from the desktop')], dragOperationsMask: 1 };
  await cdp.send('Input.dispatchDragEvent', { type: 'dragEnter', ...at, data });
  await cdp.send('Input.dispatchDragEvent', { type: 'dragOver', ...at, data });
  await expect(page.getByText('Drop to send to the remote page')).toBeVisible();
  await cdp.send('Input.dispatchDragEvent', { type: 'drop', ...at, data });
  await expect(page.getByText('Drop to send to the remote page')).toBeHidden();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await page.getByRole('button', { name: 'Give back' }).click();
  await expect.poll(told).toEqual([expect.stringMatching(/^dropped 6(38|39|40|41|42),(198|199|200|201|202) dropped\.txt=from the desktop$/)]);
});

test('a person fetches what a page downloads', async ({ page, request, browser }) => {
  await signIn(page);
  const session = await newSession(page);
  const link = await asked<Point>(
    request, session,
    `await page.goto(${JSON.stringify(new URL('/demo/files', page.url()).href)});
     const box = await page.getByRole('link', { name: 'Download the orders' }).boundingBox();
     return { x: box.x + 10, y: box.y + box.height / 2 }`,
  );
  const remote = new Remote(page);
  await page.getByRole('button', { name: 'Take control' }).click();
  await remote.click(link);
  const tray = page.getByRole('region', { name: 'Downloads' });
  await expect(tray.getByText('orders.csv')).toBeVisible();
  await expect(tray.getByText(/^Ready/)).toBeVisible();
  await accessible(page, 'a download');
  const [saved] = await Promise.all([page.waitForEvent('download'), tray.getByRole('link', { name: 'Save orders.csv' }).click()]);
  expect(saved.suggestedFilename()).toBe('orders.csv');
  const text = readFileSync(await saved.path(), 'utf8');
  expect(text).toContain('number,date,item,count,state');

  // The files panel also shows it, accepts files from the person, and removes them.
  await page.getByRole('tab', { name: 'Files' }).click();
  const panel = page.getByRole('tabpanel', { name: 'Files' });
  await expect(panel.getByText('orders.csv')).toBeVisible();
  const [picker] = await Promise.all([page.waitForEvent('filechooser'), panel.getByRole('button', { name: 'Add files' }).click()]);
  await picker.setFiles(file('notes.txt', 'by hand'));
  await expect(panel.getByText('notes.txt')).toBeVisible();
  await accessible(page, 'the files of a session');
  expect(await (await request.get(`/v1/sessions/${session}/files/notes.txt`, { headers: auth() })).text()).toBe('by hand');
  await panel.getByRole('button', { name: 'Delete notes.txt' }).click();
  await expect(panel.getByText('notes.txt')).toBeHidden();

  // A link whose role permits acting fetches the same file. A link for watching is not told about it.
  for (const role of ['control', 'view']) {
    const { url } = await (await request.post(`/v1/sessions/${session}/links`, { headers: auth(), data: { role, expiresIn: 60_000 } })).json();
    const context = await browser.newContext();
    const theirs = await context.newPage();
    await theirs.goto(url);
    await hasPicture(theirs);
    const answer = await theirs.request.get(`/v1/sessions/${session}/files/orders.csv`);
    expect(answer.status()).toBe(role === 'control' ? 200 : 403);
    if (role === 'control') {
      await theirs.getByRole('button', { name: 'Downloads', exact: true }).click();
      await expect(theirs.getByRole('link', { name: 'Save orders.csv' })).toBeVisible();
      expect(await answer.text()).toBe(text);
    } else await expect(theirs.getByText('orders.csv')).toHaveCount(0);
    await context.close();
  }
});

test('a person says who they are to a server that asks', async ({ page, request }) => {
  await signIn(page);
  const session = await newSession(page);
  const address = page.getByLabel('Address of the remote page');
  await address.fill(new URL('/demo/vault', page.url()).href);
  await address.press('Enter');
  const dialog = page.getByRole('dialog', { name: /^Sign in to 127\.0\.0\.1/ });
  await expect(dialog).toContainText('It says: “The demo vault”');
  await accessible(page, 'a server asks for a password');
  await dialog.getByLabel('Name').fill('demo@example.com');
  await dialog.getByLabel('Password').fill('not it');
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('The user name or the password is not correct.');
  await expect(dialog.getByLabel('Password')).toBeFocused();
  await page.keyboard.type('open-sesame');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('heading', { name: 'Vault' })).toBeVisible();
  await page.getByRole('button', { name: 'Give back' }).click();
  expect(await asked(request, session, "return page.getByRole('status').textContent()")).toBe('Open for Demo User.');
});
