import { AxeBuilder } from '@axe-core/playwright';
import { borrow } from './lend.js';
import { expect, type APIRequestContext, type CDPSession, type Page } from './test.js';

/** Positions on the demo site, in CSS pixels of a 1280×720 page. */
export interface Places {
  email: Point;
  password: Point;
  handle: Point;
  /** Top left corner of the captcha's scene, and its size. */
  scene: { x: number; y: number; width: number; height: number };
  code: Point;
}

export interface Point { x: number; y: number }

export const key = (): string => process.env.E2E_KEY ?? '';
export const auth = (): Record<string, string> => ({ Authorization: `Bearer ${key()}` });

export const PASSWORD = 'open-sesame';

/** Signs in as an operator and opens the session list. The form has a test of its own (pages.spec.ts). */
export async function signIn(page: Page): Promise<void> {
  await getCookie(page);
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Sessions' })).toBeVisible();
}

/** Signs the page's browser context in as an operator, at the server's own address or another origin. */
export async function getCookie(page: Page, origin = ''): Promise<void> {
  await page.context().clearCookies(); // a request with a cookie must say where it comes from
  const answer = await page.context().request.post(`${origin}/login`, { data: { key: key() } });
  expect(answer.status()).toBe(204);
}

/** Creates a session with the button, and returns its id. */
export async function newSession(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'New session' }).click();
  await page.waitForURL('**/sessions/*');
  await hasPicture(page);
  return page.url().split('/').pop() ?? '';
}

/** Opens a borrowed session with a page of a computer's size, also on a phone, where the button would give a phone's page. */
export async function openComputer(page: Page, request: APIRequestContext): Promise<string> {
  const id = await borrow(request, 'about:blank');
  await page.goto(`/sessions/${id}`);
  await hasPicture(page);
  return id;
}

/** Waits until a picture of the remote page is on the canvas. A link first shows a page without a canvas, and loads again. */
export async function hasPicture(page: Page): Promise<void> {
  await expect(page.locator('#stage')).toBeVisible({ timeout: 20_000 });
  await expect(page.locator('#skeleton')).toBeHidden({ timeout: 20_000 });
}

/** Returns the width of a remote page that is shown whole on a phone held upright. */
export async function wholeWidth(page: Page): Promise<number> {
  return (await page.locator('#stage').boundingBox())?.width ?? 0;
}

/** Waits until a page on a phone is enlarged, as it is for a field: what was measured before has moved. */
export async function enlarged(page: Page): Promise<void> {
  const whole = await wholeWidth(page);
  await expect.poll(async () => (await page.locator('#frame').boundingBox())?.width ?? 0).toBeGreaterThan(1.5 * whole);
}

/** Waits until the picture keeps its place, for example after the phone was turned. A place on it that is measured earlier is no longer right. */
export async function still(page: Page): Promise<void> {
  await page.locator('#frame').evaluate(async (frame) => {
    for (let same = 0, last = ''; same < 20; ) {
      await new Promise(requestAnimationFrame);
      const now = JSON.stringify(frame.getBoundingClientRect());
      same = now === last ? same + 1 : 0;
      last = now;
    }
  });
}

/** Follows whether the server has confirmed each press and key that a page sent. */
export class Receipts {
  #sent = 0;
  #taken = 0;

  constructor(page: Page) {
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => (this.#sent = Math.max(this.#sent, number(payload, /"n":(\d+)/))));
      socket.on('framereceived', ({ payload }) => (this.#taken = Math.max(this.#taken, number(payload, /"type":"taken","n":(\d+)/))));
    });
  }

  /** Waits until everything is confirmed. */
  async all(): Promise<void> {
    await expect.poll(() => this.#sent - this.#taken).toBe(0);
  }
}

function number(payload: string | Buffer, form: RegExp): number {
  return typeof payload === 'string' ? Number(form.exec(payload)?.[1] ?? 0) : 0;
}

/** A remote page as a person uses it: a picture to look at, with points to press. */
export class Remote {
  constructor(readonly page: Page) {}

  /** Converts a point of the remote page to this window. */
  async at(point: Point): Promise<Point> {
    const box = await this.page.locator('#frame').boundingBox();
    if (!box) throw new Error('the remote page is not in sight');
    const scale = box.width / 1280;
    return { x: box.x + point.x * scale, y: box.y + point.y * scale };
  }

  /** Returns the colour of a point, as red, green and blue, each up to 255. */
  async color(point: Point): Promise<[number, number, number]> {
    return this.page.locator('#screen').evaluate((canvas: HTMLCanvasElement, { x, y }) => {
      const scale = canvas.width / 1280;
      const [r = 0, g = 0, b = 0] = canvas.getContext('2d')?.getImageData(x * scale, y * scale, 1, 1).data ?? [];
      return [r, g, b] as [number, number, number];
    }, point);
  }

  /** Finds the captcha's gap, the darkest part of the scene. Returns the distance of its left edge from the scene's. */
  async gap(scene: Places['scene']): Promise<number> {
    let found = -1;
    await expect(async () => {
      found = await this.page.locator('#screen').evaluate((canvas: HTMLCanvasElement, { x, y, width, height }) => {
        const scale = canvas.width / 1280;
        const context = canvas.getContext('2d');
        let run = 0;
        for (let column = 60; context && column < width; column++) {
          const { data } = context.getImageData(Math.round((x + column) * scale), Math.round(y * scale), 1, Math.round(height * scale));
          let dark = 0;
          for (let i = 0; i < data.length; i += 4) if ((data[i] ?? 255) + (data[i + 1] ?? 255) + (data[i + 2] ?? 255) < 170) dark++;
          run = dark > 10 * scale ? run + 1 : 0;
          // No letter is that wide. The piece's white edge is two pixels wide.
          if (run === 24) return column - run + 1 - 2;
        }
        return -1;
      }, scene);
      expect(found).toBeGreaterThan(0);
    }).toPass({ timeout: 30_000 }); // on a poor line, the sharp picture may take its time
    return found;
  }

  async click(point: Point): Promise<void> {
    const { x, y } = await this.at(point);
    await this.page.mouse.click(x, y);
  }

  async drag(from: Point, to: Point): Promise<void> {
    const start = await this.at(from);
    const end = await this.at(to);
    await dragMouse(this.page, start, end);
  }

  /** Moves a slider. */
  async slide(from: Point, to: Point): Promise<void> {
    await this.drag(from, to);
  }
}

/** Number of points that a hand passes through on its way, and how many frames of the page it takes from one to the next. It needs most of a second for all: a slow line may bring many of them at once, and the site must still see a hand. */
const STEPS = 24;
const FRAMES = 2;

/** Yields points between two points. */
async function* way(page: Page, from: Point, to: Point): AsyncGenerator<Point> {
  for (let i = 1; i <= STEPS; i++) {
    await page.evaluate(async (frames) => {
      for (; frames > 0; frames--) await new Promise(requestAnimationFrame);
    }, FRAMES);
    yield { x: from.x + ((to.x - from.x) * i) / STEPS, y: from.y + ((to.y - from.y) * i) / STEPS };
  }
}

async function dragMouse(page: Page, from: Point, to: Point): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for await (const { x, y } of way(page, from, to)) await page.mouse.move(x, y);
  await page.mouse.up();
}

/** A remote page as a person with a touch screen uses it. */
export class Fingers extends Remote {
  private constructor(page: Page, private readonly cdp: CDPSession) {
    super(page);
  }

  static async on(page: Page): Promise<Fingers> {
    return new Fingers(page, await page.context().newCDPSession(page));
  }

  private async touch(type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: Point[]): Promise<void> {
    await this.cdp.send('Input.dispatchTouchEvent', { type, touchPoints: touchPoints.map((point, id) => ({ ...point, id })) });
  }

  override async click(point: Point): Promise<void> {
    const at = await this.at(point);
    await this.touch('touchStart', at);
    await this.touch('touchEnd');
  }

  /** Taps twice, without waiting in between: a second tap counts for a quarter of a second only. */
  async twice(point: Point): Promise<void> {
    const at = await this.at(point);
    await Promise.all([this.touch('touchStart', at), this.touch('touchEnd'), this.touch('touchStart', at), this.touch('touchEnd')]);
  }

  /** `early` runs after a quarter of the way. */
  override async drag(from: Point, to: Point, early = async (): Promise<void> => {}): Promise<void> {
    const start = await this.at(from);
    const end = await this.at(to);
    await this.touch('touchStart', start);
    let moves = 0;
    for await (const point of way(this.page, start, end)) {
      await this.touch('touchMove', point);
      if (++moves === STEPS / 4) await early();
    }
    await this.touch('touchEnd');
  }

  /** Drags what can be dragged: the finger rests until the remote page has said so. */
  async dragHandle(from: Point, to: Point): Promise<void> {
    const start = await this.at(from);
    const end = await this.at(to);
    await this.touch('touchStart', start);
    await expect(this.page.locator('#stage')).toHaveAttribute('data-handle', '');
    for await (const point of way(this.page, start, end)) await this.touch('touchMove', point);
    await this.touch('touchEnd');
  }

  /** On an enlarged picture, a finger that moves at once moves the picture. */
  override async slide(from: Point, to: Point): Promise<void> {
    const [picture, stage] = [await this.page.locator('#frame').boundingBox(), await this.page.locator('#stage').boundingBox()];
    if ((picture?.width ?? 0) > (stage?.width ?? 0) + 1) await this.dragHandle(from, to);
    else await this.drag(from, to);
  }

  /** Spreads two fingers around a point until the page is shown `factor` times as large. */
  async pinch(point: Point, factor: number): Promise<void> {
    await this.spread(point, factor, async () => {});
  }

  /** Spreads two fingers on what zooms itself: the first rests until the remote page has said so. */
  async pinchHandle(point: Point, factor: number): Promise<void> {
    await this.spread(point, factor, async (first) => {
      await this.touch('touchStart', first);
      await expect(this.page.locator('#stage')).toHaveAttribute('data-handle', '');
    });
  }

  private async spread(point: Point, factor: number, before: (first: Point) => Promise<void>): Promise<void> {
    const middle = await this.at(point);
    const pair = (distance: number): [Point, Point] => [{ x: middle.x - distance / 2, y: middle.y }, { x: middle.x + distance / 2, y: middle.y }];
    const FIRST = 60;
    await before(pair(FIRST)[0]);
    await this.touch('touchStart', ...pair(FIRST));
    for (let i = 1; i <= STEPS; i++) await this.touch('touchMove', ...pair(FIRST * (1 + ((factor - 1) * i) / STEPS)));
    await this.touch('touchEnd');
  }
}

/** Finds the positions on the demo site by visiting it in a page of the test's own that is as large as a session's. */
export async function explore(page: Page): Promise<Places> {
  const middle = async (selector: string): Promise<Point> => {
    const box = await page.locator(selector).boundingBox();
    if (!box) throw new Error(`no ${selector} on the demo site`);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto('/demo/login');
  const [email, password] = [await middle('#email'), await middle('#password')];
  await page.getByLabel('Email').fill('demo@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/demo/captcha');
  const handle = await middle('#handle');
  const scene = await page.locator('#scene').boundingBox();
  if (!scene) throw new Error('no scene on the demo site');
  const gap = await gapOf(page);
  await dragMouse(page, handle, { x: handle.x + gap, y: handle.y });
  await page.waitForURL('**/demo/code');
  return { email, password, handle, scene, code: await middle('#code') };
}

async function gapOf(page: Page): Promise<number> {
  return page.locator('#scene').evaluate(async (image: HTMLImageElement) => {
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext('2d');
    if (!context) return 0;
    context.drawImage(image, 0, 0);
    for (let x = 60; x < canvas.width; x++) {
      const { data } = context.getImageData(x, 0, 1, canvas.height);
      let dark = 0;
      for (let i = 0; i < data.length; i += 4) if ((data[i] ?? 255) + (data[i + 1] ?? 255) + (data[i + 2] ?? 255) < 150) dark++;
      if (dark > 8) return x - 2;
    }
    return 0;
  });
}

/** Returns the code that the demo site has sent to the phone of its visitor, the session's browser. */
export async function codeOnPhone(request: APIRequestContext, session: string): Promise<string> {
  const context = await request.get(`/v1/sessions/${session}/context`, { headers: auth() });
  expect(context.status()).toBe(200);
  const { cookies } = (await context.json()) as { cookies: { name: string; value: string }[] };
  const cookie = cookies.find(({ name }) => name === 'takeover_demo');
  const phone = await request.get('/demo/phone', { headers: { Cookie: `takeover_demo=${cookie?.value}` } });
  const code = /id="sms-code">(\d{6})</.exec(await phone.text())?.[1];
  if (!code) throw new Error('no code on the phone');
  return code;
}

/** The rules of axe about colours. No other rule depends on the theme. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/** Checks with axe, in both themes, that everybody can use the page. */
export async function accessible(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // Colours change gradually, so this waits until they have changed.
    await page.evaluate(() => Promise.all(document.getAnimations().filter(({ timeline }) => timeline === document.timeline).map((animation) => animation.finished.catch(() => {}))));
    const only = colorScheme === 'dark' ? { runOnly: { type: 'rule' as const, values: COLOURS } } : {};
    // Legacy mode opens no page for each report, but does not look into frames. What passes needs no report. Together they take a third of the time.
    const { violations } = await new AxeBuilder({ page }).setLegacyMode(page.frames().length === 1).options({ resultTypes: ['violations'], ...only }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`), `${name}, ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}

/** Puts a script into the editor and runs it. */
export async function run(page: Page, script: string): Promise<void> {
  if (await page.evaluate(() => (navigator as { connection?: { saveData?: boolean } }).connection?.saveData)) {
    await page.locator('#code').fill(script);
  } else {
    await expect(page.locator('.monaco-editor')).toBeVisible({ timeout: 30_000 });
    await page.locator('.monaco-editor .view-lines').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(script);
  }
  await page.keyboard.press('ControlOrMeta+Enter');
}

/** Enters password, slider and code like a person who sees only the picture. `step` is called after each of them. */
export async function signInByHand(remote: Remote, places: Places, code: () => Promise<string>, step: () => Promise<void> = async () => {}): Promise<void> {
  const { page } = remote;
  await remote.click(places.password);
  await page.locator('#keys').focus(); // needs the keyboard button on a phone; with a mouse this is already so
  await page.keyboard.type(PASSWORD);
  await step();
  await page.keyboard.press('Enter');

  const gap = await remote.gap(places.scene);
  await step();
  await still(page);
  await remote.slide(places.handle, { x: places.handle.x + gap, y: places.handle.y });

  // The form for the code replaces the scene and gets the focus: a white field above a green button. A scene that is being loaded is white, too.
  await expect(async () => {
    const [r, g, b] = await remote.color({ x: places.code.x, y: places.code.y + 18 });
    expect(Math.min(r, g, b)).toBeGreaterThan(240);
    const [red, green] = await remote.color({ x: places.code.x - 80, y: places.code.y + 67 });
    expect([red < 40, green > 80]).toEqual([true, true]);
  }).toPass({ timeout: 30_000 });
  await still(page);
  await remote.click(places.code);
  await page.locator('#keys').focus();
  await page.keyboard.type(await code());
  await step();
  await page.keyboard.press('Enter');
}

/** Returns the pieces of a shown code that have the colour of a kind. */
export function coloured(page: Page, code: string, kind: string): Promise<string[]> {
  return page.locator(code).evaluateAll((all, name) => [...(CSS.highlights.get(name) ?? [])]
    .filter(({ startContainer }) => all.some((one) => one.contains(startContainer)))
    .map(({ startContainer, startOffset, endOffset }) => (startContainer as Text).data.slice(startOffset, endOffset)), `code-${kind}`);
}
