import { expect, test } from './test.js';
import { accessible, auth, hasPicture, signIn } from './remote.js';

/** The pages that look back: a session that has ended, and the takeovers that were asked for. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('the time line of a session shows its moments', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login`, capture: true } })).json();
  const shown = async (): Promise<number> => (await (await request.get(`/v1/sessions/${id}/film`, { headers: auth() })).json()).pictures.length;
  await expect.poll(shown).toBeGreaterThan(0);
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `await page.goto('${baseURL}/demo/orders');`, filename: 'orders.ts', wait: true } });
  await expect.poll(shown).toBeGreaterThan(1);
  const first = (await (await request.get(`/v1/sessions/${id}/film`, { headers: auth() })).json()).pictures[0];
  const last = async (): Promise<number> => (await (await request.get(`/v1/sessions/${id}/film`, { headers: auth() })).json()).pictures.at(-1);
  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Read the code' } })).json();
  await request.post(`/v1/sessions/${id}/takeovers/${asked.id}/fail`, { headers: auth(), data: { reason: 'The code did not arrive' } });
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await signIn(page);
  await page.goto(`/sessions/${id}`);
  await expect(page.getByRole('heading', { name: 'orders.ts' })).toBeVisible();
  await expect(page.locator('.outcome')).toHaveText('Succeeded');
  // What happened last comes first, and both lanes of the time line have a name.
  await expect(page.locator('#panel-steps > details')).toContainText(['Read the code', 'orders.ts · succeeded']);
  await expect(page.locator('#timeline-legend')).toHaveText('ScriptPerson');
  await expect(page.locator('.brief-facts')).toContainText('/demo/orders');
  await expect(page.locator('.brief-facts time')).toHaveText([/\d\d:\d\d:\d\d$/, /^\d\d:\d\d:\d\d$/]);
  // It begins with the end, which belongs to no step, and keys step from picture to picture.
  await expect(page.locator('.output-line.at-moment')).toHaveCount(0);
  const moment = page.getByAltText('What the session showed at this moment');
  const track = page.getByRole('slider', { name: 'Moment' });
  await expect(moment).toHaveAttribute('src', new RegExp(`/film/${await last()}$`));
  await expect.poll(() => moment.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(640);
  await track.focus();
  await page.keyboard.press('Home');
  await expect(page.locator('#moment-none')).toHaveText('No picture yet');
  while (await moment.isHidden()) await page.keyboard.press('ArrowRight'); // also over what happened before the first picture
  await expect(moment).toHaveAttribute('src', new RegExp(`/film/${first}$`));
  await page.keyboard.press('End');
  await expect(moment).toHaveAttribute('src', new RegExp(`/film/${await last()}$`));
  // The film strip is as wide as the page. The mouse shows a moment, and a press chooses it.
  expect(await page.locator('#timeline-film img').count()).toBeGreaterThan(0);
  const strip = (await track.boundingBox())!;
  expect(strip.width).toBeGreaterThan(0.9 * 1280);
  await track.hover({ position: { x: 0.4 * strip.width, y: 20 } });
  await expect(page.locator('#timeline-hover')).toBeVisible();
  await track.click({ position: { x: 0.4 * strip.width, y: 20 } });
  const chosen = async (): Promise<number> => Number(await track.getAttribute('aria-valuenow')) / Number(await track.getAttribute('aria-valuemax'));
  expect(await chosen()).toBeCloseTo(0.4, 1);
  // Space plays it, to the end.
  await page.keyboard.press('Home');
  await page.keyboard.press('Space');
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Play' })).toBeVisible();
  await expect(moment).toHaveAttribute('src', new RegExp(`/film/${await last()}$`));
  // A step chooses its moment, which stands in the address.
  await page.locator('.output-line', { hasText: 'page.goto' }).click();
  await expect(page.locator('.output-line.at-moment')).toContainText('page.goto');
  const at = new URL(page.url()).hash;
  await page.reload();
  await expect(page.locator('.output-line.at-moment')).toContainText('page.goto');
  expect(new URL(page.url()).hash).toBe(at);
  await expect(page.locator('.timeline-bar.run')).toHaveCount(1);
  await expect(page.locator('.timeline-bar.waits')).toHaveCount(1);
  await page.locator('.ended-takeover summary').click();
  await expect(page.locator('.ended-takeover')).toContainText('The code did not arrive');
  await accessible(page, 'ended, with a film strip');
  // On a phone, they stand below each other.
  await page.setViewportSize({ width: 390, height: 844 });
  const tops = await page.locator('#timeline, #moment, #inspector-tabs').evaluateAll((all) => all.map((one) => [one.id, one.getBoundingClientRect().top] as const).sort((a, b) => a[1] - b[1]).map(([name]) => name));
  expect(tops).toEqual(['timeline', 'moment', 'inspector-tabs']);
});

test('the takeovers that were asked for are listed', async ({ page, request }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: {} })).json();
  const ask = async (reason: string): Promise<string> => (await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason } })).json()).id;
  const first = await ask('Enter the code of the bank');
  await request.post(`/v1/sessions/${id}/takeovers/${first}/fail`, { headers: auth(), data: { reason: 'The code of the bank did not arrive' } });
  await signIn(page);
  await page.goto('/takeovers');
  const row = page.getByRole('row', { name: 'Enter the code of the bank' });
  await expect(row).toContainText('Cannot be done');
  await expect(row).toContainText('The code of the bank did not arrive');
  // One that is asked for meanwhile comes by itself, and above it.
  await ask('Choose a colour');
  await expect(page.locator('tbody tr').first()).toContainText('Choose a colour');
  await expect(page.locator('tbody tr').first()).toContainText('Waiting for a person');
  await accessible(page, 'takeovers');
  // Only one that waits can be opened, and its link be copied.
  const waits = page.getByRole('row', { name: 'Choose a colour' });
  const copy = waits.getByRole('button', { name: 'Copy link' });
  await copy.click();
  await expect(copy).toHaveAttribute('data-copied-link', /\/takeover\/[^#]+#./);
  await expect(waits.getByRole('link', { name: 'Open' })).toHaveAttribute('href', /^\/takeover\//);
  await expect(row.getByRole('link')).toHaveText('Empty page');
  await expect(row.getByRole('button')).toHaveCount(0);
  // A press anywhere in a row leads to its session.
  await row.click({ position: { x: 24, y: 16 } });
  await expect(page).toHaveURL(`/sessions/${id}`);
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await page.goto('/takeovers');
  await expect(waits).toContainText('Cancelled');
  await expect(waits).toContainText('The session ended');
});

test('who helped, how long they were waited for and what they did is said on each page that looks back', async ({ page, browser, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login`, capture: true } })).json();
  const code = `const { note } = await requestTakeover('Enter the code of the bank', { hosts: ['127.0.0.1'] });\nawait page.goto('${baseURL}/demo/orders');\nreturn note;`;
  const run = await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, filename: 'bank.ts' } })).json();
  await signIn(page);
  await page.goto('/takeovers');
  const row = page.getByRole('row', { name: 'Enter the code of the bank' }).first();
  await expect(row.locator('[data-label=waited]'), 'the seconds of a request that waits are counted').toHaveText(/^0:(0[3-9]|[1-5]\d)$/);
  const { takeovers: [open] } = await (await request.get(`/v1/sessions/${id}/takeovers`, { headers: auth() })).json();
  const helper = await (await browser.newContext()).newPage();
  await helper.goto(open.url);
  await hasPicture(helper);
  await expect(helper.locator('#control-words')).toHaveText('You are in control');
  await helper.getByRole('button', { name: 'Done' }).click();
  await expect(helper.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await helper.context().close();
  await expect.poll(async () => (await (await request.get(`/v1/sessions/${id}/runs/${run.id}`, { headers: auth() })).json()).status).toBe('succeeded');
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });

  const seconds = async (text: Promise<string | null>): Promise<number> => Number(/([\d.]+) s$/.exec((await text)?.trim() ?? '')?.[1]);
  await page.goto('/');
  const listed = page.locator(`.row[data-key="${id}"]`);
  await expect(listed).toContainText('bank.ts');
  await expect(listed).toContainText('Helped');
  await page.goto('/takeovers');
  await expect(row).toContainText('by a person');
  expect(await seconds(row.locator('[data-label=waited]').textContent())).toBeGreaterThan(2.4);
  await expect(row.locator('[data-label=worked]')).toHaveText(/^[\d.]+ m?s$/);
  await page.goto(`/sessions/${id}`);
  await expect(page.locator('.brief-facts')).toContainText('HelpedA person');
  // The run took as long as its person was waited for, and longer.
  expect(await seconds(page.locator('.ended-run summary .tabular').textContent())).toBeGreaterThan(2.4);
  const takeover = page.locator('.ended-takeover');
  await takeover.locator('summary').click();
  for (const fact of ['Asked bya script', 'PersonA person', /Waited[2-9]\.\d s/, /Worked[\d.]+ m?s/, 'Hosts127.0.0.1']) await expect(takeover).toContainText(fact);
});

test('a session that ended can be read', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login` } })).json();
  const code = "await page.evaluate(() => console.log('said by the page'));\nconsole.log('said by the script');\nawait page.getByText('no such thing').click({ timeout: 500 });";
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, filename: 'night.ts', wait: true } });
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  await signIn(page);
  await page.goto(`/sessions/${id}`);
  // It begins where the run failed, with the picture of that moment.
  const failure = page.getByAltText('What the session showed at this moment');
  await expect(failure).toHaveAttribute('src', /\/runs\/[^/]+\/picture$/);
  await expect.poll(() => failure.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1280);
  const run = page.locator('.ended-run');
  await expect(run.locator('summary')).toContainText('night.ts · failed');
  await expect(run.locator('summary')).toContainText('TimeoutError: locator.click: Timeout 500ms exceeded.');
  await expect(run.locator('.output-line', { hasText: 'said by the script' })).toBeVisible();
  await expect(run.locator('.output-line.error')).toContainText('click');
  // A step chooses its line, too.
  await run.locator('.output-line', { hasText: 'page.evaluate' }).click();
  await page.getByRole('tab', { name: 'Script' }).click();
  await expect(page.locator('.ended-script .at-moment')).toContainText('said by the page');
  await expect(page.locator('.ended-script .at-fault')).toContainText("getByText('no such thing')");
  await accessible(page, 'ended, its script');
  await page.getByRole('tab', { name: 'Script' }).press('ArrowLeft');
  // The panel shows events from when the session was live, although nobody had opened the panel.
  await expect(page.locator('#events-list .event', { hasText: 'said by the page' })).toBeVisible();
  await expect(page.locator('#events-list .event', { hasText: '/demo/login' }).first()).toBeVisible();
  expect(await page.locator('#events-list').evaluate((list) => list.getBoundingClientRect().height / (list.closest('.ended-events')?.getBoundingClientRect().height ?? 1)), 'the room is the rows’').toBeGreaterThan(0.7);
  // Who came and went is left out, unless it is asked for; runs and errors are not.
  const control = page.locator('#events-list .event[data-category="control"]');
  await expect(control.first()).toContainText('Script started');
  await expect(control.filter({ hasNotText: /^\S+ *(Script|Takeover)/ })).toHaveCount(0);
  await page.locator('[data-filter=control]').click();
  await expect(page.locator('#events-list .event[data-category="control"]').first()).toBeVisible();
  await page.locator('[data-filter=all]').click();
  await page.locator('#events-list .event', { hasText: 'said by the page' }).click();
  await expect(page.locator('#events-detail')).toBeVisible();
  // Nothing more is captured here, so there is no button for it.
  await page.keyboard.press('Home'); // to the first line, the request of the page
  await expect(page.locator('#events-list .event[aria-selected="true"]')).toContainText('/demo/login');
  await page.getByRole('tab', { name: 'Response' }).click();
  await expect(page.locator('#events-detail')).toContainText('was not captured: it is not text, or the capture of bodies was off.');
  await expect(page.getByRole('button', { name: 'Capture bodies from now on' })).toHaveCount(0);
  await page.getByRole('tab', { name: 'Files' }).click();
  await expect(page.locator('#panel-files')).toContainText('Requests as HAR');
  await page.getByRole('tab', { name: 'Steps' }).click();
  await accessible(page, 'ended, with a run');
  // On a phone, the buttons are in one row, and the picture of the moment is in the first screen.
  await page.setViewportSize({ width: 320, height: 568 });
  const again = (await page.getByRole('button', { name: 'New session with this' }).boundingBox())!;
  const rerun = (await page.getByRole('button', { name: 'Run again' }).boundingBox())!;
  expect(again.y).toBe(rerun.y);
  expect(again.height).toBeLessThan(48);
  expect(Math.abs(again.width - rerun.width)).toBeLessThan(8);
  expect(await page.locator('#moment-picture').evaluate((image) => image.getBoundingClientRect().bottom + scrollY)).toBeLessThan(568);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.getByRole('button', { name: 'New session with this' }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(id));
  await expect(page.locator('#address')).toHaveValue(`${baseURL}/demo/login`);
  await expect(page.locator('#code')).toHaveValue(code);
  await page.goBack();
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(id));
  await expect(page.locator('#code')).toHaveValue(code);
  await expect(page.locator('#output')).toContainText('said by the script');
});

test('a session is run again as it began, and secrets leave a gap in its film', async ({ page, request, baseURL }) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${baseURL}/demo/login`, capture: true, isMobile: true, dimensions: { width: 390, height: 844 } } })).json();
  const film = async (): Promise<{ pictures: number[]; hidden: number[] }> => (await request.get(`/v1/sessions/${id}/film`, { headers: auth() })).json();
  await expect.poll(async () => (await film()).pictures.length).toBeGreaterThan(0);
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `const first = page.url(); await page.goto('${baseURL}/demo/'); await page.goto(first); await page.getByLabel('Password').focus(); return first`, wait: true } });
  await expect.poll(async () => (await film()).hidden.length).toBe(1);
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code: `const first = page.url(); await page.goto('${baseURL}/demo/')`, wait: true } });
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
  const { hidden } = await film();
  await signIn(page);
  await page.goto(`/sessions/${id}#at=${hidden[0]! + 1}`);
  await expect(page.locator('#moment-none')).toHaveText('No picture: a secret could be seen here.');
  await page.getByRole('slider', { name: 'Moment' }).focus();
  await page.keyboard.press('Home');
  await expect(page.locator('#moment-none')).toHaveText('No picture yet');
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(id));
  const again = new URL(page.url()).pathname.split('/').at(-1);
  const made = await (await request.get(`/v1/sessions/${again}`, { headers: auth() })).json();
  expect(made).toMatchObject({ isMobile: true, startUrl: `${baseURL}/demo/login`, dimensions: { width: 390, height: 844 } });
});
