import { createServer, type Server } from 'node:http';
import { Line, listen } from './line.js';
import { onPhone, WINDOWS } from './phone.js';
import { accessible, auth, enlarged, Fingers, hasPicture, Remote, still, wholeWidth, type Point } from './remote.js';
import { expect, test, type Page } from './test.js';

/** A takeover on a phone: a finger presses what it is on, whatever moves meanwhile. */

const TAPS = 500;

let server: Server;
let site = '';

test.beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    if (request.url === '/corner') {
      response.end('<title>Corner</title><body style="margin:0;height:100vh"><input style="position:fixed;left:1100px;top:670px;width:150px;height:30px;box-sizing:border-box">');
      return;
    }
    if (request.url === '/leave') {
      response.end(`<title>Leave</title><a href="http://localhost:${new URL(site).port}/" style="position:fixed;inset:0">away</a>`);
      return;
    }
    if (request.url === '/fields') {
      response.end(`<title>none</title><style>input,select{position:absolute;left:40px;width:400px;height:40px}</style>
        <input type="date" style="top:40px" onchange="document.title = value">
        <select style="top:140px" onchange="document.title = value"><option>one<option>two</select>
        <input type="file" style="top:240px" onchange="document.title = files[0].name">`);
      return;
    }
    if (request.url === '/form') {
      response.end(`<title>form</title><style>*{position:absolute;box-sizing:border-box}</style><input type="search" style="left:20px;top:20px;width:200px">
        <form style="left:800px;top:300px;width:300px;height:240px"><input style="left:0;top:20px;width:300px;height:36px"><input type="password" style="left:0;top:80px;width:300px;height:36px">
        <a href="/corner" style="left:0;top:140px;width:300px;height:36px;background:#cde">next</a></form>`);
      return;
    }
    if (request.url === '/map') {
      response.end(`<title>1</title><canvas width="600" height="400" style="position:absolute;left:0;top:0;background:#cde;touch-action:none"></canvas>
        <script>let zoom = 1; document.querySelector('canvas').addEventListener('wheel', (event) => { event.preventDefault(); if (event.ctrlKey) document.title = (zoom *= Math.exp(-event.deltaY / 100)).toFixed(1); }, { passive: false })</script>`);
      return;
    }
    if (request.url === '/picture') {
      response.end(`<title>Picture</title><button style="position:fixed;inset:0" onclick="const canvas = new OffscreenCanvas(7, 5); canvas.getContext('2d').fillRect(0, 0, 3, 3);
        navigator.clipboard.write([new ClipboardItem({ 'image/png': canvas.convertToBlob() })])">copy</button>`);
      return;
    }
    if (request.url === '/opens') {
      response.end('<title>Opens</title><a target="_blank" href="/typing" style="position:fixed;inset:0">open</a>');
      return;
    }
    if (request.url === '/typing') {
      response.end(`<title>none</title><body style="margin:0"><input style="position:absolute;left:200px;top:80px;width:600px;height:40px" oninput="document.title = value">`);
      return;
    }
    if (request.url === '/gestures') {
      response.end(`<title>new</title><body style="margin:0;height:3000px">
        <input type="range" min="0" max="100" value="0" style="position:absolute;left:600px;top:340px;width:300px;height:40px;margin:0">
        <a href="#pressed" onclick="document.title = 'pressed'" ondblclick="document.title = 'twice'" style="position:absolute;left:0;top:500px;width:1280px;height:200px;background:#cde">link</a>
        <script>document.querySelector('input').addEventListener('input', (event) => { document.title = 'at ' + (event.target.value > 20); }); addEventListener('scroll', () => { document.title = 'scrolled'; });</script>`);
      return;
    }
    response.end(`<title>0</title><body style="margin:0">${'<input style="width:150px;height:30px;margin:30px">'.repeat(20)}<script>
      const taps = [];
      addEventListener('mousedown', (event) => { taps.push({ x: event.clientX, y: event.clientY }); document.title = taps.length; }, { capture: true });
    </script>`);
  });
  site = `http://127.0.0.1:${await listen(server)}/`;
});

test.afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Returns numbers from 0 to 1 that are the same in each run. */
function numbers(seed: number): () => number {
  return () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
}

test('five hundred taps press what was under the finger when it came down', async ({ browser, request }) => {
  const { id, page, title } = await onPhone(browser, request, site);
  // What is on the glass where a finger comes down.
  await page.evaluate(() => {
    const wanted: { x: number; y: number }[] = [];
    Object.assign(window, { wanted });
    document.addEventListener('touchstart', ({ touches: [finger] }) => {
      const box = document.querySelector('#screen')?.getBoundingClientRect();
      if (!finger || !box) return;
      const x = ((finger.clientX - box.left) * 1280) / box.width;
      const y = ((finger.clientY - box.top) * 720) / box.height;
      // Beside the page, a finger presses its edge.
      wanted.push({ x: Math.min(1279, Math.max(0, x)), y: Math.min(719, Math.max(0, y)) });
    }, { capture: true });
  });
  const cdp = await page.context().newCDPSession(page);
  const random = numbers(7);
  const place = (): Promise<Point | null> =>
    page.evaluate(([across, down]) => {
      const stage = document.querySelector('#stage')?.getBoundingClientRect();
      const picture = document.querySelector('#screen')?.getBoundingClientRect();
      if (!stage || !picture) return null;
      const left = Math.max(stage.left, picture.left) + 2;
      const top = Math.max(stage.top, picture.top) + 2;
      const right = Math.min(stage.right, picture.right) - 2;
      const bottom = Math.min(stage.bottom, picture.bottom) - 2;
      return { x: left + (right - left) * (across ?? 0), y: top + (bottom - top) * (down ?? 0) };
    }, [random(), random()]);
  // Seconds between the taps, by their time stamps, so that no two are a double tap.
  let timestamp = Date.now() / 1000;
  for (let tap = 0; tap < TAPS; tap++) {
    const at = await place();
    if (!at) throw new Error('the remote page is not in sight');
    timestamp++;
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at], timestamp });
    const what = random();
    if (what < 0.3) await page.locator('#stage').evaluate((stage, by) => { stage.scrollTop = by; stage.scrollLeft = by; }, 20 + random() * 100);
    else if (what < 0.5) await page.setViewportSize(WINDOWS[Math.floor(random() * WINDOWS.length)] ?? WINDOWS[0]);
    else if (what < 0.6) await page.locator('#keys').evaluate((field) => (field === document.activeElement ? field.blur() : field.focus()));
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [], timestamp });
    // A zoom now and then, beside the one that a field brings.
    if (what > 0.95) await page.locator('[data-zoom]').first().evaluate((button: HTMLElement) => button.click());
  }
  const wanted = await page.evaluate(() => (window as unknown as { wanted: Point[] }).wanted);
  expect(wanted).toHaveLength(TAPS);
  await expect.poll(title).toBe(String(TAPS));
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  const run = await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { wait: true, code: 'return page.evaluate(() => taps)' } })).json();
  const beside = (run.result as Point[]).flatMap(({ x, y }, i) => {
    const { x: left = 0, y: top = 0 } = wanted[i] ?? {};
    const off = Math.hypot(x - left, y - top);
    return off > 2 ? [`tap ${i}: ${x},${y} for ${left},${top}`] : [];
  });
  expect(beside).toEqual([]);
  await page.context().close();
});

test('a date, a list and a file open wherever their field is touched', async ({ browser, request }) => {
  const { page, title } = await onPhone(browser, request, `${site}fields`);
  const fingers = await Fingers.on(page);
  for (const x of [60, 240, 420]) {
    await fingers.click({ x, y: 60 });
    const date = page.locator('.widget-field input');
    await expect(date, `date at ${x}`).toBeVisible();
    await date.fill(`2026-05-0${x / 60}`);
    await page.getByRole('button', { name: 'Set' }).click();
    await expect.poll(title).toBe(`2026-05-0${x / 60}`);

    await fingers.click({ x, y: 160 });
    const other = page.getByRole('option', { selected: false });
    const name = (await other.textContent()) ?? '';
    await other.click();
    await expect.poll(title).toBe(name);

    const file = `at-${x}.txt`;
    await fingers.click({ x, y: 260 });
    const picking = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose from this device' }).click();
    await (await picking).setFiles({ name: file, mimeType: 'text/plain', buffer: Buffer.from('x') });
    await expect.poll(title).toBe(file);
  }
  await page.context().close();
});

test('a page whose form waits opens on that form at a readable size, and the next page is shown whole', async ({ browser, request }) => {
  const { page, title } = await onPhone(browser, request, `${site}form`);
  const fingers = await Fingers.on(page);
  const stage = await page.locator('#stage').boundingBox();
  if (!stage) throw new Error('no stage');
  const whole = await wholeWidth(page);
  await enlarged(page);
  for (const corner of [{ x: 800, y: 320 }, { x: 1100, y: 476 }]) {
    const at = await fingers.at(corner);
    expect(at.x).toBeGreaterThanOrEqual(stage.x);
    expect(at.x).toBeLessThanOrEqual(stage.x + stage.width);
    expect(at.y).toBeGreaterThanOrEqual(stage.y);
    expect(at.y).toBeLessThanOrEqual(stage.y + stage.height);
  }
  await expect(page.locator('#keys')).not.toBeFocused();
  await fingers.click({ x: 950, y: 458 });
  await expect.poll(title).toBe('Corner');
  await expect.poll(async () => (await page.locator('#frame').boundingBox())?.width ?? 0).toBeCloseTo(whole, 0);
  await page.context().close();
});

test('a tab that a link opened has a way back', async ({ browser, request }) => {
  const { page, title } = await onPhone(browser, request, `${site}opens`);
  const fingers = await Fingers.on(page);
  const shown = (await page.locator('#screen').getAttribute('data-tab')) ?? '';
  const tabs = page.getByRole('button', { name: '2 tabs' });
  await expect(tabs).toBeHidden();
  for (const back of ['the message', 'the button', 'the list']) {
    await fingers.click({ x: 640, y: 360 });
    await expect(tabs).toBeVisible();
    await expect.poll(title).toBe('none');
    if (back === 'the message') await page.getByRole('button', { name: 'Go back' }).click();
    else if (back === 'the button') await page.getByRole('button', { name: 'Back', exact: true }).click();
    else {
      await tabs.click();
      await accessible(page, 'tabs of a takeover');
      await page.locator('#tabs-menu').getByRole('button', { name: 'Opens', exact: true }).click();
      await expect.poll(title).toBe('Opens');
      await tabs.click();
      await page.getByRole('button', { name: 'Close none' }).click();
    }
    await expect(tabs, back).toBeHidden();
    await expect.poll(title).toBe('Opens');
    await expect(page.locator('#screen'), 'a press on the picture of a closed tab has no effect').toHaveAttribute('data-tab', shown);
  }
  await page.context().close();
});

test('two taps enlarge and press nothing; then one finger moves the picture, but a slider with its handle', async ({ browser, request }) => {
  const { page, title } = await onPhone(browser, request, `${site}gestures`);
  const fingers = await Fingers.on(page);
  const width = async (): Promise<number> => (await page.locator('#frame').boundingBox())?.width ?? 0;
  const whole = await width();
  await fingers.twice({ x: 640, y: 600 });
  await expect.poll(width).toBeGreaterThan(1.9 * whole);
  expect(await title()).toBe('new'); // what it sent would have arrived before this
  // Sideways and up, the picture follows the finger.
  const before = await fingers.at({ x: 640, y: 600 });
  await fingers.drag({ x: 640, y: 600 }, { x: 560, y: 580 });
  const after = await fingers.at({ x: 640, y: 600 });
  expect(before.x - after.x).toBeGreaterThan(20);
  expect(await title()).toBe('new');
  // The handle of the slider moves the slider. The finger rests until the page has said what is there.
  await fingers.dragHandle({ x: 610, y: 360 }, { x: 780, y: 360 });
  await expect.poll(title).toBe('at true');
  expect((await fingers.at({ x: 640, y: 600 })).x).toBeCloseTo(after.x, 0);
  // Here two taps are a double click.
  await fingers.twice({ x: 640, y: 600 });
  await expect.poll(title).toBe('twice');
  // The picture's edge passes the finger's way on to the page.
  for (let i = 0; i < 4; i++) await fingers.drag({ x: 640, y: 600 }, { x: 640, y: 450 });
  await expect.poll(title).toBe('scrolled');
  await page.context().close();
});

test('a finger moves a slider although the page says late that it began there', async ({ browser, request }) => {
  let held: (() => void)[] | null = null;
  const hold = (page: Page): Promise<void> => page.routeWebSocket(/\/view/, (socket) => {
    socket.connectToServer().onMessage((message) => {
      if (held && typeof message === 'string' && message.includes('"type":"cursor"')) held.push(() => socket.send(message));
      else socket.send(message);
    });
  });
  const { page, title } = await onPhone(browser, request, `${site}gestures`, { prepare: hold });
  const fingers = await Fingers.on(page);
  const place = async (): Promise<number> => (await page.locator('#frame').boundingBox())?.x ?? 0;
  await fingers.twice({ x: 640, y: 600 });
  await enlarged(page);
  await still(page);
  const before = await place();
  held = [];
  await fingers.drag({ x: 610, y: 360 }, { x: 780, y: 360 }, async () => {
    expect(await place(), 'it moves the picture').toBeGreaterThan(before + 5);
    await expect.poll(() => held?.length).toBeGreaterThan(0);
    for (const go of held?.splice(0) ?? []) go();
    held = null;
    await expect.poll(place, 'the picture is back').toBeCloseTo(before, 0);
  });
  await expect.poll(title).toBe('at true');
  expect(await place()).toBeCloseTo(before, 0);
  // What the page says late about a tap concerns no finger that came down elsewhere since.
  held = [];
  await fingers.click({ x: 610, y: 360 });
  await fingers.drag({ x: 640, y: 600 }, { x: 560, y: 600 }, async () => {
    await expect.poll(() => held?.length).toBeGreaterThan(0);
    for (const go of held?.splice(0) ?? []) go();
    held = null;
  });
  expect(await place(), 'the picture follows the finger').toBeLessThan(before - 20);
  await page.context().close();
});

test('two fingers zoom a map that can be seen, and else the view', async ({ browser, request }) => {
  const { page, title } = await onPhone(browser, request, `${site}map`);
  const fingers = await Fingers.on(page);
  const width = async (): Promise<number> => (await page.locator('#frame').boundingBox())?.width ?? 0;
  const whole = await width();
  await fingers.pinch({ x: 300, y: 200 }, 4);
  expect(await width()).toBeGreaterThan(3 * whole);
  expect(await title()).toBe('1');
  const enlarged = await width();
  await fingers.pinchHandle({ x: 300, y: 200 }, 2);
  await expect.poll(title).toBe('2.0');
  await fingers.pinchHandle({ x: 380, y: 260 }, 1.5);
  await expect.poll(title).toBe('3.0');
  expect(await width()).toBeCloseTo(enlarged, 0);
  await page.context().close();
});

test('an image that the page copies can be pasted on the phone', async ({ browser, request }) => {
  const { page } = await onPhone(browser, request, `${site}picture`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await (await Fingers.on(page)).click({ x: 640, y: 360 });
  await expect(page.getByText('Image copied from the remote page')).toBeVisible();
  const size = await page.evaluate(async () => {
    const [item] = await navigator.clipboard.read();
    if (!item) return [];
    const { width, height } = await createImageBitmap(await item.getType('image/png'));
    return [width, height];
  });
  expect(size).toEqual([7, 5]);
  await page.context().close();
});

test('one tap on a small picture presses once', async ({ browser, request }) => {
  const { page, title } = await onPhone(browser, request, `${site}gestures`);
  await (await Fingers.on(page)).click({ x: 640, y: 600 });
  await expect.poll(title).toBe('pressed');
  await page.context().close();
});

test('a field is shown with its form: the edges of field and button are on the glass', async ({ browser, request, baseURL }) => {
  const { page } = await onPhone(browser, request, `${baseURL}/demo/login`);
  const places = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await places.goto('/demo/login');
  const boxes = await Promise.all([places.getByLabel('Password'), places.getByRole('button', { name: 'Sign in' })].map((part) => part.boundingBox()));
  await places.close();
  const remote = new Remote(page);
  const [field] = boxes;
  if (!field) throw new Error('the demo site has no password field');
  await enlarged(page);
  const at = await remote.at({ x: field.x + 100, y: field.y + 10 });
  await page.touchscreen.tap(at.x, at.y);
  await expect(page.locator('#keys')).toBeFocused();
  for (const size of [WINDOWS[0], { width: 390, height: 500 }, { width: 320, height: 568 }, { width: 320, height: 300 }]) {
    await page.setViewportSize(size);
    await expect(async () => {
      const stage = await page.locator('#stage').boundingBox();
      for (const box of boxes) {
        const left = await remote.at({ x: box?.x ?? 0, y: box?.y ?? 0 });
        const right = await remote.at({ x: (box?.x ?? 0) + (box?.width ?? 0), y: box?.y ?? 0 });
        expect(left.x).toBeGreaterThanOrEqual(stage?.x ?? 0);
        expect(right.x).toBeLessThanOrEqual((stage?.x ?? 0) + (stage?.width ?? 0));
      }
      const top = await remote.at({ x: field.x, y: field.y });
      const bottom = await remote.at({ x: field.x, y: field.y + field.height });
      expect(top.y).toBeGreaterThanOrEqual(stage?.y ?? 0);
      expect(bottom.y).toBeLessThanOrEqual((stage?.y ?? 0) + (stage?.height ?? 0));
    }, `${size.width}x${size.height}`).toPass();
    await page.screenshot({ path: `test-results/field-${size.width}x${size.height}.png` });
  }
  await page.context().close();
});

test('a keyboard that opens over the whole page finds the field enlarged before the first letter', async ({ browser, request }) => {
  const { page, title } = await onPhone(browser, request, `${site}typing`);
  const whole = await wholeWidth(page);
  const width = async (): Promise<number> => (await page.locator('#frame').boundingBox())?.width ?? 0;
  await enlarged(page); // as a page with a form begins
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await expect.poll(width).toBeCloseTo(whole, 0);
  const { x, y } = await new Remote(page).at({ x: 400, y: 100 });
  await page.touchscreen.tap(x, y);
  await page.setViewportSize(WINDOWS[1]); // the window shrinks at once, as on a phone
  await expect(page.locator('#keys')).toBeFocused();
  await enlarged(page);
  expect(await title()).toBe('none');
  await page.keyboard.type('a');
  await expect.poll(title).toBe('a');
  await page.context().close();
});

test('a field stays in sight while its keyboard opens and the phone is turned, and then the whole page is back', async ({ browser, request }) => {
  const { page } = await onPhone(browser, request, `${site}corner`);
  const remote = new Remote(page);
  const tap = async (point: Point): Promise<void> => {
    const { x, y } = await remote.at(point);
    await page.touchscreen.tap(x, y);
  };
  /** Where the left edge of the field, with the caret, is in the stage, as parts of the stage. */
  const caret = async (): Promise<Point> => {
    const at = await remote.at({ x: 1104, y: 685 });
    const stage = (await page.locator('#stage').boundingBox()) ?? { x: 0, y: 0, width: 1, height: 1 };
    return { x: (at.x - stage.x) / stage.width, y: (at.y - stage.y) / stage.height };
  };
  const inSight = async (what: string): Promise<void> => {
    await expect.poll(async () => {
      const { x, y } = await caret();
      return x > 0 && x < 1 && y > 0.02 && y < 0.98;
    }, what).toBe(true);
  };
  const whole = await wholeWidth(page);
  await enlarged(page);
  await tap({ x: 1170, y: 685 });
  await expect(page.locator('#keys')).toBeFocused();
  await expect.poll(async () => (await page.locator('#frame').boundingBox())?.width ?? 0).toBeGreaterThan(2 * whole);
  await inSight('upright');
  for (const size of [...WINDOWS.slice(1), { width: 390, height: 420 }, { width: 844, height: 390 }, { width: 844, height: 190 }, WINDOWS[0]]) {
    await page.setViewportSize(size);
    await inSight(`${size.width}x${size.height}`);
  }
  // Two fingers look elsewhere meanwhile, and what they found stays.
  const cdp = await page.context().newCDPSession(page);
  const stage = (await page.locator('#stage').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const pair = (by: number): { id: number; x: number; y: number }[] => [100, 200].map((x, id) => ({ id, x: stage.x + x + by, y: stage.y + 150 }));
  const before = await caret();
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: pair(0) });
  for (const by of [40, 80, 120]) await cdp.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: pair(by) });
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  const moved = (await caret()).x - before.x;
  expect(moved * stage.width).toBeGreaterThan(50);
  await tap({ x: 1000, y: 500 });
  await expect.poll(async () => (await page.locator('#frame').boundingBox())?.width ?? 0).toBeCloseTo(whole, 0);
  await page.context().close();
});

test('no letter is lost, doubled or moved by a connection that breaks or hangs', async ({ browser, request, server }) => {
  const line = new Line(Number(new URL(server.url).port));
  await line.mend();
  const { page, title } = await onPhone(browser, request, `${site}typing`, { port: line.port });
  await enlarged(page);
  const at = await new Remote(page).at({ x: 300, y: 100 });
  await page.touchscreen.tap(at.x, at.y);
  await expect(page.locator('#keys')).toBeFocused();
  const letters = 'abcdefghijklmnopqrstuvwxyz'.repeat(4);
  const typed = async (part: string, after: number, what: () => void): Promise<void> => {
    for (const [i, letter] of [...part].entries()) {
      if (i === after) what();
      await page.keyboard.insertText(letter);
    }
  };
  // Three resets in the middle of words.
  for (let i = 0; i < 3; i++) await typed(letters.slice(i * 26, (i + 1) * 26), 9 + i, () => line.reset());
  await expect.poll(title).toBe(letters.slice(0, 78));
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  // A silence: it is said, and Done waits; what is typed meanwhile arrives.
  await Promise.all([
    expect(page.locator('#control-words')).toHaveText('The connection is slow'), // for a few seconds, perhaps while letters are still typed
    typed(letters.slice(78), 5, () => line.silence()),
  ]);
  await expect(page.locator('#control-words')).toHaveText('Not connected');
  await expect(page.getByRole('button', { name: 'Done' })).toBeDisabled();
  await page.waitForEvent('websocket', { timeout: 20_000 }); // the page tries another connection
  line.resume();
  await expect.poll(title, { timeout: 40_000 }).toBe(letters);
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await expect(page.getByRole('button', { name: 'Done' })).toBeEnabled();
  // A page that is loaded again continues the count.
  await page.reload();
  await hasPicture(page);
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await page.locator('#keys').focus();
  await page.keyboard.insertText('!');
  await expect.poll(title).toBe(`${letters}!`);
  await page.context().close();
  line.cut();
});

test('a stranger sees which site they are on, opens a long reason, and sends a note with Done', async ({ browser, request }) => {
  const reason = 'Sign in to the shop with the account of the office, solve the puzzle, and enter the code that comes by text message to the phone of the office';
  const { id, takeover, page } = await onPhone(browser, request, `${site}leave`, { reason, note: 'The password is in the safe' });
  const { host, port } = new URL(site);
  await expect(page.locator('#errand-name')).toHaveText(host);
  await page.locator('#errand-host').tap();
  await expect(page.getByText(`Not encrypted: ${site}leave`)).toBeVisible();
  // A reason that is cut opens, with the note, which has no room of its own in small windows.
  const dialog = page.getByRole('dialog', { name: reason });
  for (const size of [{ width: 844, height: 390 }, { width: 568, height: 320 }, { width: 390, height: 520 }, { width: 320, height: 568 }, WINDOWS[0]]) {
    await page.setViewportSize(size);
    await page.getByRole('button', { name: reason }).tap();
    await expect(dialog.getByText('The password is in the safe')).toBeInViewport({ ratio: 1 });
    await expect(dialog.getByRole('heading', { name: reason })).toBeInViewport({ ratio: 1 });
    await accessible(page, `reason and note, ${size.width} px`);
    await dialog.getByRole('button', { name: 'Close' }).tap();
  }
  // Another site is marked.
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await page.locator('#frame').tap();
  await expect(page.locator('#errand-host')).toHaveAttribute('data-changed');
  await expect(page.locator('#errand-name')).toHaveText(`localhost:${port}`);
  await expect(page.locator('#errand-host')).not.toHaveAttribute('data-changed');
  await page.getByRole('button', { name: 'Add a note' }).tap();
  await page.getByLabel('For whoever asked. It is sent with Done.').fill('The code was 1234');
  await page.getByRole('button', { name: 'Keep' }).tap();
  await page.getByRole('button', { name: 'Done' }).tap();
  await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  expect((await (await request.get(`/v1/sessions/${id}/takeovers/${takeover}`, { headers: auth() })).json()).note).toBe('The code was 1234');
  await page.context().close();
});

/** Windows of phones, with and without their keyboard, and the least part of each that the remote page's area has. */
const ROOM = [
  { width: 390, height: 844, share: 0.6 }, { width: 390, height: 520, share: 0.6 }, { width: 320, height: 568, share: 0.45 }, { width: 320, height: 290, share: 0.45 },
  { width: 844, height: 390, share: 0.7 }, { width: 844, height: 190, share: 0.55 }, { width: 568, height: 320, share: 0.6 }, { width: 932, height: 430, share: 0.7 },
] as const;

test('in each window the remote page has room, and the answer is one press away', async ({ browser, request }) => {
  const reason = 'Sign in to the shop with the account of the office, solve the puzzle, and enter the code that comes by text message';
  const { page } = await onPhone(browser, request, site, { reason, note: 'The password is in the safe' });
  for (const { width, height, share } of ROOM) {
    const what = `${width}x${height}`;
    await page.setViewportSize({ width, height });
    const seen = await page.evaluate(() => {
      const area = document.querySelector('#stage')?.getBoundingClientRect();
      const inside = (selector: string): boolean => {
        const box = document.querySelector(selector)?.getBoundingClientRect();
        return !!box && box.width >= 44 && box.height >= 44 && box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
      };
      const buttons = [...document.querySelectorAll<HTMLElement>('.errand-bar button, .errand-foot button')].filter((button) => button.checkVisibility() && !button.closest('.menu'));
      const overlap = buttons.flatMap((one, i) => buttons.slice(i + 1).filter((other) => {
        const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
        return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
      }).map((other) => `${one.textContent.trim() || one.title} and ${other.textContent.trim() || other.title}`));
      return {
        overlap,
        share: area ? (area.width * area.height) / (innerWidth * innerHeight) : 0,
        done: inside('#done'), keyboard: inside('[data-keyboard]'), more: inside('[data-menu="tools-menu"]'),
        sideways: document.documentElement.scrollWidth > innerWidth || document.body.scrollWidth > innerWidth,
      };
    });
    expect.soft(seen, what).toEqual({ overlap: [], share: expect.any(Number), done: true, keyboard: true, more: true, sideways: false });
    expect.soft(seen.share, what).toBeGreaterThanOrEqual(share);
    await page.locator('[data-menu="tools-menu"]').click();
    const menu = await page.locator('#tools-menu').boundingBox();
    expect.soft(menu && menu.y >= 0 && menu.x >= 0 && menu.y + menu.height <= height && menu.x + menu.width <= width, `${what}: the menu at ${JSON.stringify(menu)}`).toBe(true);
    await page.locator('[data-menu="tools-menu"]').click();
    await page.screenshot({ path: `test-results/phone-${what}.png` });
  }
  await page.context().close();
});
