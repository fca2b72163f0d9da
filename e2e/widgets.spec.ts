import { expect, test, type APIRequestContext, type Locator, type Page } from './test.js';
import { accessible, auth, Fingers, hasPicture, newSession, openComputer, Remote, signIn } from './remote.js';

/** What Chromium would draw outside the remote page: lists, dates, colours, suggestions, the pointer's shape. */

/** A page whose title shows what it received last. */
const PAGE = `<title>ready</title><style>*{margin:0;box-sizing:border-box}select,input,iframe,#host{position:absolute;left:40px;width:240px;height:36px;border:1px solid;font:16px sans-serif}a{position:absolute;left:600px;top:40px}</style>
  <select id=city style="top:40px"><option>Berlin<option>Bern<optgroup label=North><option>Bergen<option disabled>Bodø<option>Åre</optgroup></select>
  <select id=many multiple style="top:90px;height:90px"><option selected>one<option>two<option>three</select>
  <input id=date type=date style="top:200px"><input id=time type=time style="top:250px"><input id=local type=datetime-local style="top:300px">
  <input id=month type=month style="top:350px"><input id=week type=week style="top:400px"><input id=color type=color style="top:450px">
  <input id=words list=list style="top:500px"><datalist id=list><option value=alpha><option value=alps><option value=beta></datalist>
  <iframe style="top:560px" srcdoc="<style>*{margin:0}</style><select id=framed style='width:200px;height:30px'><option>in<option>out</select><script>document.addEventListener('change',e=>parent.tell(e))</script>"></iframe>
  <div id=host style="top:620px"></div><a href="#">a link</a><script>
  const got = []
  function tell(e) { got.push(e.type + ' ' + e.target.id + '=' + (e.target.multiple ? [...e.target.selectedOptions].map(o => o.value) : e.target.value)); document.title = got.slice(-2).join(' ') }
  document.addEventListener('input', tell); document.addEventListener('change', tell)
  host.attachShadow({mode:'open'}).innerHTML = '<select id=deep style="width:200px;height:30px"><option>up<option>down</select>'
  host.shadowRoot.addEventListener('change', tell)</script>`;

async function open(page: Page, request: APIRequestContext): Promise<{ session: string; received: (title: string) => Promise<void> }> {
  await signIn(page);
  const session = await openComputer(page, request);
  const run = await (await request.post(`/v1/sessions/${session}/scripts`, { headers: auth(), data: { wait: true, code: `await page.setContent(${JSON.stringify(PAGE)})` } })).json();
  expect(run.error ?? null).toBeNull();
  await hasPicture(page);
  const received = async (title: string): Promise<void> => {
    await expect.poll(async () => (await (await request.get(`/v1/sessions/${session}`, { headers: auth() })).json()).title).toBe(title);
  };
  await received('ready');
  return { session, received };
}

/** Waits until an element is below a point of the remote page, with its left edge at the point. */
async function standsAt(remote: Remote, element: Locator, x: number, y: number): Promise<void> {
  const at = await remote.at({ x, y });
  await expect.poll(async () => {
    const box = await element.boundingBox();
    return box !== null && Math.abs(box.x - at.x) < 3 && box.y - at.y >= 0 && box.y - at.y < 10;
  }).toBe(true);
}

test('lists, by mouse and by keyboard', async ({ page, request }) => {
  const { received } = await open(page, request);
  const remote = new Remote(page);
  const panel = page.locator('.widget');
  const list = panel.getByRole('listbox');
  await page.getByRole('button', { name: 'Take control' }).click();

  await remote.click({ x: 100, y: 58 });
  await expect(list.getByRole('option')).toHaveCount(5);
  await standsAt(remote, panel, 40, 76);
  await expect(list.getByRole('option', { name: 'Berlin' })).toHaveAttribute('aria-selected', 'true');
  await expect(list.getByRole('group', { name: 'North' }).getByRole('option')).toHaveCount(3);
  await accessible(page, 'a list of the remote page');
  await list.getByRole('option', { name: 'Bodø' }).click({ force: true }); // cannot be chosen
  await expect(panel).toBeVisible();
  await list.getByRole('option', { name: 'Bergen' }).click();
  await received('input city=Bergen change city=Bergen');
  await expect(panel).toBeHidden();

  // Opened with a key, and an option found by typing. Escape closes it; then an arrow changes the closed list.
  await page.keyboard.press('Alt+ArrowDown');
  await expect(list).toBeFocused();
  await page.keyboard.type('bern');
  await expect(list.locator('.active')).toHaveText('Bern');
  await page.keyboard.press('Enter');
  await received('input city=Bern change city=Bern');
  await page.keyboard.press('Enter');
  await expect(list).toBeFocused();
  await page.keyboard.press('End');
  await expect(list.locator('.active')).toHaveText('Åre');
  await page.keyboard.press('ArrowUp'); // skipping disabled options
  await expect(list.locator('.active')).toHaveText('Bergen');
  await page.keyboard.press('Escape');
  await expect(panel).toBeHidden();
  await page.keyboard.press('ArrowUp');
  await received('input city=Berlin change city=Berlin');

  // In a frame and in a shadow tree. A press outside closes it.
  await remote.click({ x: 100, y: 576 });
  await standsAt(remote, panel, 41, 591);
  await list.getByRole('option', { name: 'out' }).click();
  await received('change city=Berlin change framed=out');
  await remote.click({ x: 100, y: 636 });
  await list.getByRole('option', { name: 'down' }).click();
  await received('input host=undefined change deep=down');
  await remote.click({ x: 100, y: 58 });
  await expect(panel).toBeVisible();
  await remote.click({ x: 900, y: 400 });
  await expect(panel).toBeHidden();

  // Several options are chosen in the page itself.
  await remote.click({ x: 100, y: 142 });
  await received('input many=three change many=three');
  await expect(panel).toBeHidden();
});

test('dates, times, colours, suggestions and the pointer', async ({ page, request }) => {
  const { received } = await open(page, request);
  const remote = new Remote(page);
  const panel = page.locator('.widget');
  await page.getByRole('button', { name: 'Take control' }).click();
  for (const [id, name, y, value] of [
    ['date', 'Date', 218, '2026-03-04'], ['time', 'Time', 268, '21:45'], ['local', 'Date and time', 318, '2026-03-04T21:45'],
    ['month', 'Month', 368, '2026-03'], ['week', 'Week', 418, '2026-W10'], ['color', 'Colour', 468, '#3366ff'],
  ] as const) {
    await remote.click({ x: 266, y });
    await panel.getByLabel(name, { exact: true }).fill(value);
    if (id === 'date') await accessible(page, 'a date of the remote page');
    await panel.getByRole('button', { name: 'Set' }).click();
    await received(`input ${id}=${value} change ${id}=${value}`);
    await expect(panel).toBeHidden();
  }
  await remote.click({ x: 266, y: 218 });
  await panel.getByRole('button', { name: 'Clear' }).click();
  await received('input date= change date=');
  await remote.click({ x: 266, y: 218 });
  await panel.getByRole('button', { name: 'Cancel' }).click();
  await expect(panel).toBeHidden();

  await remote.click({ x: 100, y: 518 });
  await expect(panel.getByRole('option')).toHaveText(['alpha', 'alps', 'beta']);
  await page.keyboard.type('alp');
  await expect(panel.getByRole('option')).toHaveText(['alpha', 'alps']);
  await received('input words=al input words=alp');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await received('input words=alps change words=alps');
  await page.keyboard.press('!');
  await received('change words=alps input words=alps!');

  const canvas = page.locator('#screen');
  for (const [x, y, cursor] of [[620, 50, 'pointer'], [100, 518, 'text'], [900, 400, 'default']] as const) {
    const at = await remote.at({ x, y });
    await page.mouse.move(at.x, at.y);
    await expect(canvas).toHaveCSS('cursor', cursor);
  }
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test('lists come up from below', async ({ page, request }) => {
    const { received } = await open(page, request);
    const fingers = await Fingers.on(page);
    const panel = page.locator('.widget');
    await fingers.click({ x: 100, y: 58 }); // takes control, because nobody has it
    await expect(panel).toHaveAttribute('data-sheet', '');
    await expect.poll(async () => {
      const box = await panel.boundingBox();
      return box && [box.x, box.width, Math.round(box.y + box.height)];
    }).toEqual([0, 390, 844]);
    for (const row of await panel.getByRole('option').all()) expect((await row.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await accessible(page, 'a list on a phone');
    await panel.getByRole('option', { name: 'Åre' }).tap();
    await received('input city=Åre change city=Åre');
    await expect(panel).toBeHidden();

    // Several options cannot be chosen in the page with fingers.
    await fingers.click({ x: 100, y: 122 });
    const option = (name: string): Locator => panel.getByRole('option', { name });
    await expect(option('two')).toHaveAttribute('aria-selected', 'true');
    await expect(option('one')).toHaveAttribute('aria-selected', 'true');
    await option('three').tap();
    await option('one').tap();
    await panel.getByRole('button', { name: 'Done' }).tap();
    await received('input many=two,three change many=two,three');
  });

  test('a list with several choices opens for a finger in a page made for touch, too', async ({ page, request }) => {
    await signIn(page);
    const session = await newSession(page); // on a phone, a page made for touch
    const list = '<title>ready</title><meta name=viewport content="width=device-width"><body style="margin:0"><select multiple size=4 style="position:absolute;left:20px;top:100px;width:200px;height:100px"><option selected>one<option>two<option>three</select><script>onchange = (e) => { document.title = [...e.target.selectedOptions].map((o) => o.value).join() }</script>';
    await request.post(`/v1/sessions/${session}/scripts`, { headers: auth(), data: { wait: true, code: `await page.setContent(${JSON.stringify(list)})` } });
    await expect(page.locator('#session-title')).toHaveText('ready');
    const glass = (await page.locator('#screen').boundingBox())!;
    const scale = glass.width / 390;
    await page.touchscreen.tap(glass.x + 60 * scale, glass.y + 122 * scale); // takes control, because nobody has it
    const option = (name: string): Locator => page.locator('.widget').getByRole('option', { name });
    await expect(option('one')).toBeVisible();
    await option('three').tap();
    await page.locator('.widget').getByRole('button', { name: 'Done' }).tap();
    await expect.poll(async () => (await (await request.get(`/v1/sessions/${session}`, { headers: auth() })).json()).title).toContain('three');
    await request.post(`/v1/sessions/${session}/release`, { headers: auth() });
  });
});
