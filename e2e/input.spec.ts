import { devices, expect, test, type APIRequestContext, type CDPSession, type Page } from './test.js';
import { auth, hasPicture, openComputer, Remote, signIn } from './remote.js';

/** What a person does with hands and clipboard, and what the remote page receives. */

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

/** Runs a script while the person works, and returns its result. */
async function asked<T>(request: APIRequestContext, session: string, code: string): Promise<T> {
  const run = await (await request.post(`/v1/sessions/${session}/scripts`, { headers: auth(), data: { wait: true, code } })).json();
  expect(run.error ?? null).toBeNull();
  return run.result as T;
}

/** A page that records what it receives. `field` is at the top left, and everything else at known points. */
const RECORDER = `<title>recorder</title><style>
  * { margin: 0; box-sizing: border-box; font: 16px monospace } body { height: 700px }
  #field { position: absolute; left: 0; top: 0; width: 600px; height: 100px }
  #secret { position: absolute; left: 0; top: 120px; width: 300px; height: 40px }
  #write { position: absolute; left: 0; top: 180px; width: 300px; height: 40px }
  #host { position: absolute; left: 0; top: 240px; width: 300px; height: 40px }
  #frame { position: absolute; left: 0; top: 300px; width: 300px; height: 60px; border: 0 }
  #box { position: absolute; left: 0; top: 400px; width: 600px; height: 200px; background: #cde; touch-action: none }
</style><textarea id=field></textarea><input id=secret type=password value=hunter2><div id=host></div><div id=box></div>
<button id=write onclick="navigator.clipboard?.writeText('by the page') ?? (field.value = 'by the page', field.select(), document.execCommand('copy'))">write</button>
<iframe id=frame srcdoc="<input value='in a frame' style='width:280px;height:40px'>"></iframe>
<script>
  window.told = [];
  host.attachShadow({ mode: 'open' }).innerHTML = '<input value="in a shadow" style="width:280px;height:40px">';
  const say = (type, text) => addEventListener(type, e => told.push((e.isTrusted || type === 'compositionend' ? '' : 'untrusted ') + type + ' ' + text(e)), true);
  for (const type of ['compositionstart', 'compositionupdate', 'compositionend']) say(type, e => e.data);
  for (const type of ['keydown', 'keyup']) say(type, e => [e.key, e.code, e.location, e.repeat && 'again', e.ctrlKey && 'Ctrl', e.shiftKey && 'Shift', e.altKey && 'Alt', e.metaKey && 'Meta'].filter(x => x !== false).join(' '));
  say('beforeinput', e => e.inputType + ' ' + (e.data ?? ''));
  say('paste', e => JSON.stringify(e.clipboardData.getData('text/plain')) + [...e.clipboardData.files].map(f => ' ' + f.type).join(''));
  for (const type of ['mousedown', 'mousemove', 'mouseup', 'click', 'dblclick']) say(type, e => [e.button, e.buttons, e.detail].join(' '));
  say('wheel', e => [e.deltaY, e.ctrlKey && 'Ctrl'].filter(x => x !== false).join(' '));
  for (const type of ['touchstart', 'touchmove', 'touchend']) say(type, e => [e.touches.length, e.changedTouches.length].join(' '));
</script>`;

interface Received { value: string; told: string[] }
interface Opened { session: string; remote: Remote; look(): Promise<Received> }

async function open(page: Page, request: APIRequestContext): Promise<Opened> {
  await signIn(page);
  const session = await openComputer(page, request);
  return show(page, request, session);
}

async function show(page: Page, request: APIRequestContext, session: string): Promise<Opened> {
  await asked(request, session, `await page.setContent(${JSON.stringify(RECORDER)})`);
  await hasPicture(page);
  return {
    session,
    remote: new Remote(page),
    look: async () => {
      // A script that reads the page waits until it may.
      const release = page.getByRole('button', { name: 'Give back' });
      if (await release.isVisible()) await release.click();
      await expect(page.locator('#control-words')).toHaveText('Nobody in control');
      return asked<Received>(request, session, 'return page.evaluate(() => ({ value: field.value, told: told.splice(0) }))');
    },
  };
}

/** Waits until the person's clipboard contains `text`. */
async function hasClipboard(page: Page, text: string): Promise<void> {
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(text);
}

/** Stands between a viewer and the server, and can hold back a request for control. */
interface Way {
  /** Holds back the next request, and those after it. Resolves when the first has arrived. */
  hold(): Promise<void>;
  /** Passes the first request on to the server. */
  go(): void;
  /** Sends the page the newest message about control again, as if it had been on its way. */
  repeat(): void;
}

/** Puts a Way between the server and a page that is opened later. */
async function onTheWay(page: Page): Promise<Way> {
  let told: string | Buffer = '';
  let arrived: (() => void) | null = null;
  let holds = false; // a page asks again when an answer takes long
  let go = (): void => {};
  let repeat = (): void => {};
  await page.routeWebSocket(/\/view/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const asks = /"type":"control","action":"take"/.test(String(message));
      if (asks && holds) return;
      if (!asks || !arrived) return server.send(message);
      arrived();
      arrived = null;
      holds = true;
      go = () => {
        holds = false;
        server.send(message);
      };
    });
    server.onMessage((message) => {
      if (typeof message === 'string' && message.includes('"type":"control"')) told = message;
      socket.send(message);
    });
    repeat = () => socket.send(told);
  });
  return { hold: () => new Promise<void>((resolve) => (arrived = resolve)), go: () => go(), repeat: () => repeat() };
}

/** More than a person types before control is granted. */
const SENTENCE = 'what is typed at once, before the answer comes, is not lost';

test('what is typed before control is granted arrives in order', async ({ page, request }) => {
  const way = await onTheWay(page);
  const { remote, look } = await open(page, request);
  const held = way.hold();
  await remote.click({ x: 50, y: 50 });
  await held;
  way.repeat(); // says only that nobody is in control
  for (let x = 100; x < 400; x += 4) await page.mouse.move(x, 300); // a hand rarely rests
  await page.keyboard.type(SENTENCE);
  await expect(page.locator('#control-words')).toHaveText('Nobody in control');
  way.go();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await page.keyboard.type('!');
  const { value, told } = await look();
  expect(value).toBe(`${SENTENCE}!`);
  expect(told.filter((line) => /^(mousedown|mouseup|click)/.test(line))).toEqual(['mousedown 0 1 1', 'mouseup 0 0 1', 'click 0 0 1']);
});

test('what is typed before control is granted does not reach another tab', async ({ page, request }) => {
  const way = await onTheWay(page);
  const { session, remote } = await open(page, request);
  const held = way.hold();
  await remote.click({ x: 50, y: 50 });
  await page.keyboard.type('for the first tab');
  await held;
  await asked(request, session, `const other = await page.context().newPage(); await other.setContent('<textarea style="width: 600px; height: 200px"></textarea>'); await other.locator('textarea').focus();`);
  await expect(page.locator('.tab-button')).toHaveCount(2);
  way.go();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await page.keyboard.type('!');
  await expect.poll(() => asked(request, session, `return await page.locator('textarea').inputValue()`)).toBe('!'); // the key may still be on its way
});

test('what is typed before control is refused, or too long before it comes, is thrown away', async ({ page, request, browser }) => {
  await page.clock.install();
  const way = await onTheWay(page);
  const { session, remote, look } = await open(page, request);

  // Control is granted when the person no longer expects it.
  let held = way.hold();
  await remote.click({ x: 50, y: 50 });
  await page.keyboard.type('late');
  await held;
  await page.clock.fastForward(8_000);
  way.go();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  expect(await look()).toEqual({ value: '', told: [] });

  // Another person was faster, and gives control away later.
  held = way.hold();
  await remote.click({ x: 50, y: 50 });
  await page.keyboard.type('refused');
  await held;
  const other = await browser.newPage();
  await signIn(other);
  await other.goto(`/sessions/${session}`);
  await hasPicture(other);
  await other.getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('Another person is in control');
  way.go();
  for (const viewport of [{ width: 844, height: 390 }, { width: 1280, height: 720 }]) { // sideways, too
    await other.setViewportSize(viewport);
    await expect(other.locator('#asked')).toBeInViewport({ ratio: 0.9 });
  }
  await other.locator('#asked-give').click();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  expect(await look()).toEqual({ value: '', told: [] });
  await other.close();
});

test('what is copied on either side is pasted on the other', async ({ page, request }) => {
  const { remote, look } = await open(page, request);
  const setClipboard = (text: string): Promise<void> => page.evaluate((t) => navigator.clipboard.writeText(t), text);

  // To the remote page: a paste is one insertion, with an event that the page trusts. An image arrives as a file.
  await remote.click({ x: 50, y: 50 });
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  await setClipboard('two lines, 日本 🙂');
  await page.keyboard.press('ControlOrMeta+V');
  await page.keyboard.type('!');
  const uploaded = page.waitForResponse((response) => response.request().method() === 'POST' && response.url().includes('/files?'));
  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(4, 4);
    canvas.getContext('2d')?.fillRect(0, 0, 2, 2);
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': await canvas.convertToBlob() })]);
  });
  await page.keyboard.press('ControlOrMeta+V');
  await (await uploaded).finished();
  await page.evaluate(() => new Promise(requestAnimationFrame)); // the page has read the answer
  const { value, told } = await look();
  expect(value).toBe('two lines, 日本 🙂!');
  expect(told.filter((line) => /paste/i.test(line)).map((line) => line.trim())).toEqual(['paste "two lines, 日本 🙂"', 'beforeinput insertFromPaste two lines, 日本 🙂', 'paste "" image/png', 'beforeinput insertFromPaste']);
  expect(told).toContain('keydown v KeyV 0 Ctrl');

  // From the remote page: by shortcut, from a field, a shadow root and a frame.
  const words = page.getByText('Copied from the remote page');
  for (const [y, text] of [[50, 'two lines, 日本 🙂!'], [260, 'in a shadow'], [320, 'in a frame']] as const) {
    await remote.click({ x: 50, y });
    await expect(page.locator('#control-words')).toHaveText('You are in control');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('ControlOrMeta+C');
    await hasClipboard(page, text);
    await expect(words).toBeVisible();
  }
  // A password is not copied; cutting it only removes it from the field.
  await remote.click({ x: 50, y: 140 });
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('ControlOrMeta+C');
  await remote.click({ x: 50, y: 50 });
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('ControlOrMeta+X');
  await hasClipboard(page, 'two lines, 日本 🙂!');
  expect((await look()).value, 'what was cut is gone').toBe('');
  // Text that the page copies by itself after a press.
  await remote.click({ x: 50, y: 200 });
  await hasClipboard(page, 'by the page');
});

test('the wheel with Ctrl reaches the remote page, and zooms neither page by itself', async ({ page, request }) => {
  const { session, remote, look } = await open(page, request);
  const size = (): Promise<number[]> => asked<number[]>(request, session, 'return page.evaluate(() => [devicePixelRatio, innerWidth, innerHeight])');
  const theirs = await size();
  await remote.click({ x: 100, y: 500 });
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  const before = await page.evaluate(() => devicePixelRatio);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -120);
  await page.keyboard.up('Control');
  await expect.poll(async () => (await look()).told.filter((line) => line.startsWith('wheel'))).toEqual(['wheel -120 Ctrl']);
  expect(await size()).toEqual(theirs);
  expect(await page.evaluate(() => devicePixelRatio)).toBe(before);
});

test('a browser that needs a press to copy gets something to press', async ({ page, request }) => {
  const { remote } = await open(page, request);
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('no'));
    document.execCommand = () => false;
  });
  await remote.click({ x: 50, y: 320 });
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('ControlOrMeta+C');
  const button = page.getByRole('button', { name: 'Copy it here' });
  await expect(button).toBeVisible();
  await page.evaluate(() => Reflect.deleteProperty(navigator.clipboard, 'writeText'));
  await button.click();
  await hasClipboard(page, 'in a frame');
});

/** Types with an input method: each state of the composition, then the text. */
async function compose(cdp: CDPSession, states: string[], text: string): Promise<void> {
  for (const state of states) await cdp.send('Input.imeSetComposition', { text: state, selectionStart: state.length, selectionEnd: state.length });
  await cdp.send('Input.insertText', { text });
}

const WRITING = [
  { language: 'Japanese', states: ['k', 'か', 'かn', 'かん', 'かんj', 'かんじ', '漢字'], text: '漢字' },
  { language: 'Chinese', states: ['n', 'ni', 'nih', 'niha', 'nihao'], text: '你好' },
  { language: 'Korean', states: ['ㅎ', '하', '한'], text: '한' },
  { language: 'a dead key', states: ['´'], text: 'é' },
];

test('input methods compose in the remote page', async ({ page, request }) => {
  const { remote, look } = await open(page, request);
  const cdp = await page.context().newCDPSession(page);
  await remote.click({ x: 500, y: 50 });
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  for (const { states, text } of WRITING) {
    await compose(cdp, states, text);
    await page.keyboard.type('.');
  }
  // A composition that is cancelled leaves nothing. An emoji arrives without keys.
  await cdp.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 });
  await cdp.send('Input.imeSetComposition', { text: '', selectionStart: 0, selectionEnd: 0 });
  await cdp.send('Input.insertText', { text: '👩‍🚀' });
  // The keypad, a repeating key, modifiers. Nothing stays pressed when the page loses the keyboard.
  await page.keyboard.press('NumpadAdd');
  await page.keyboard.down('ArrowLeft');
  await page.keyboard.down('ArrowLeft');
  await page.keyboard.up('ArrowLeft');
  await page.keyboard.press('Control+Alt+Shift+F2');
  await page.keyboard.down('Shift');
  await page.locator('#keys').evaluate((field) => field.blur());
  const { value, told } = await look();
  expect(value).toBe('漢字.你好.한.é.👩‍🚀+');
  const composed = told.filter((line) => line.startsWith('composition'));
  for (const { language, states, text } of WRITING) {
    const lines = composed.splice(0, composed.indexOf(`compositionend ${text}`) + 1);
    expect(lines[0], language).toBe('compositionstart ');
    expect(lines.slice(1, states.length + 1), language).toEqual(states.map((state) => `compositionupdate ${state}`));
  }
  expect(composed.slice(0, 2)).toEqual(['compositionstart ', 'compositionupdate に']);
  expect(composed.at(-1)).toBe('compositionend ');
  const keys = told.filter((line) => line.startsWith('key'));
  expect(keys).toContain('keydown + NumpadAdd 3');
  expect(keys.filter((line) => line.includes('ArrowLeft'))).toEqual(['keydown ArrowLeft ArrowLeft 0', 'keydown ArrowLeft ArrowLeft 0 again', 'keyup ArrowLeft ArrowLeft 0']);
  expect(keys).toContain('keydown F2 F2 0 Ctrl Shift Alt');
  expect(keys.at(-1)).toBe('keyup Shift ShiftLeft 1');
});

test('on a phone fingers are fingers, and the keyboard follows the remote field', async ({ browser, request }) => {
  const created = await (await request.post('/v1/sessions', { headers: auth(), data: { isMobile: true, dimensions: { width: 390, height: 620 } } })).json();
  const context = await browser.newContext({ ...devices['iPhone 13'], defaultBrowserType: undefined, viewport: { width: 390, height: 844 } } as object);
  const page = await context.newPage();
  await signIn(page);
  await page.goto(`/sessions/${created.id}`);
  const { look } = await show(page, request, created.id);
  const cdp = await context.newCDPSession(page);
  const frame = await page.locator('#frame').boundingBox();
  const finger = (id: number, x: number, y: number): { id: number; x: number; y: number } => {
    const scale = (frame?.width ?? 0) / 390;
    return { id, x: (frame?.x ?? 0) + x * scale, y: (frame?.y ?? 0) + y * scale };
  };
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { id: number; x: number; y: number }[]): Promise<unknown> => cdp.send('Input.dispatchTouchEvent', { type, touchPoints });

  // A tap is a touch, and clicks. On a field, it opens the keyboard.
  await touch('touchStart', finger(0, 50, 50));
  await touch('touchEnd');
  const keys = page.locator('#keys');
  await expect(keys).toBeFocused();
  await expect(keys).toHaveAttribute('enterkeyhint', 'enter');
  await page.keyboard.type('abc');
  // Two fingers arrive as two.
  await touch('touchStart', finger(0, 100, 500));
  await touch('touchStart', finger(0, 100, 500), finger(1, 200, 500));
  await touch('touchMove', finger(0, 80, 500), finger(1, 220, 500));
  await touch('touchEnd');
  let value = '';
  const told: string[] = [];
  await expect.poll(async () => {
    const now = await look();
    value = now.value;
    told.push(...now.told);
    return told.filter((line) => line.startsWith('touchend 0 ')).length;
  }, 'the ends of both touches').toBe(2);
  expect(value).toBe('abc');
  const tap = told.slice(0, told.findIndex((line) => line.startsWith('click')) + 1).filter((line) => /^(touch|click)/.test(line));
  expect(tap).toEqual(['touchstart 1 1', 'touchend 0 1', 'click 0 0 1']);
  const two = told.slice(told.lastIndexOf('touchstart 1 1')).filter((line) => line.startsWith('touch'));
  expect(two.slice(0, 2)).toEqual(['touchstart 1 1', 'touchstart 2 1']);
  expect(two[2]).toMatch(/^touchmove 2 [12]$/); // the browser may tell of each finger by itself
  expect(two.at(-1)).toMatch(/^touchend 0 /);
  await request.post(`/v1/sessions/${created.id}/release`, { headers: auth() });
  await context.close();
});

test('fast taps on different keys are taps, two in one place zoom and press nothing', async ({ browser, request }) => {
  const context = await browser.newContext({ ...devices['iPhone 13'], defaultBrowserType: undefined, viewport: { width: 390, height: 844 } } as object);
  const page = await context.newPage();
  const { remote, look } = await open(page, request);
  await page.getByRole('button', { name: 'Take control' }).click();
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  const cdp = await context.newCDPSession(page);
  const frame = page.locator('#frame');
  // The field of the page is shown closer, as somebody may want to type.
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await expect(page.getByRole('button', { name: 'Zoom in' })).toBeVisible();
  await expect(page.locator('#panel-script'), 'the panel below the page has come back').toBeVisible();
  const whole = await frame.boundingBox();
  // As fast as a hand, by the time stamps of the events.
  let timestamp = Date.now() / 1000;
  const tap = (point: { x: number; y: number }): Promise<unknown> => {
    timestamp += 0.15;
    return Promise.all([
      cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point], timestamp }),
      cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [], timestamp }),
    ]);
  };
  for (const x of [100, 200, 300, 400]) await tap(await remote.at({ x, y: 500 }));
  expect(await frame.boundingBox()).toEqual(whole);
  // A tap waits a quarter of a second for a second one, by the clock: nothing may come between these two.
  const twice = [await remote.at({ x: 500, y: 500 }), await remote.at({ x: 505, y: 500 })];
  await Promise.all(twice.map(tap));
  await expect.poll(async () => (await frame.boundingBox())?.width).toBeGreaterThan(whole?.width ?? Infinity);
  expect((await look()).told.filter((line) => line.startsWith('click'))).toHaveLength(4);
  await context.close();
});
