import { expect, serve, test, type APIRequestContext, type Page } from './test.js';
import { createServer, type Server } from 'node:http';
import { borrow } from './lend.js';
import { Line, listen } from './line.js';
import { accessible, auth, getCookie, hasPicture, Remote } from './remote.js';

/** The live view with connections that break, pages that nobody sees, and sessions that end. */

const PAGE = `<!doctype html><title>moving</title><style>body{margin:0}button{position:fixed;inset:0 auto auto 0;width:400px;height:200px}
  input{position:fixed;left:0;top:240px;width:400px;height:60px}
  div{position:fixed;left:0;top:400px;width:200px;height:200px;background:linear-gradient(red,blue);animation:go 1s linear infinite}@keyframes go{to{transform:translateX(900px)}}
  .calm div{animation:none}</style><button onclick="fetch('/clicked', { method: 'POST' })">press</button>
  <input oninput="fetch('/typed', { method: 'POST', body: value })"><div></div><script>
  if (location.hash === '#title') setInterval(() => { document.title = Math.random() }, 20);
  if (location.hash === '#calm') {
    document.documentElement.className = 'calm';
    let n = 0;
    setInterval(() => { document.querySelector('div').textContent = ++n }, 200);
  }</script>`;

/** The page that sessions open. It counts the presses of its button, and records what is typed into its field. */
class Site {
  clicks = 0;
  typed = '';
  #server: Server;
  address = '';

  constructor() {
    this.#server = createServer((request, response) => {
      if (request.method === 'POST' && request.url === '/clicked') this.clicks++;
      if (request.method === 'POST' && request.url === '/typed') {
        // Requests may overtake each other, but the field only grows.
        request.setEncoding('utf8').on('data', (text: string) => (this.typed = text.length > this.typed.length ? text : this.typed));
      }
      response.setHeader('Content-Type', 'text/html').end(PAGE);
    });
  }

  async open(): Promise<void> {
    this.address = `http://127.0.0.1:${await listen(this.#server)}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const site = new Site();
test.beforeAll(() => site.open());
test.afterAll(() => site.close());
async function sessionAt(request: APIRequestContext, more: object = {}): Promise<string> {
  const answer = await request.post('/v1/sessions', { headers: auth(), data: { url: site.address, ...more } });
  expect(answer.status()).toBe(201);
  return ((await answer.json()) as { id: string }).id;
}

async function open(page: Page, session: string, origin = ''): Promise<void> {
  await getCookie(page, origin);
  await page.goto(`${origin}/sessions/${session}`);
  await hasPicture(page);
}

test('figures on demand, and no pictures for a page that nobody sees', async ({ page, request }) => {
  await page.addInitScript(() => {
    Object.defineProperty(document, 'hidden', { get: () => (window as { away?: boolean }).away ?? false });
  });
  const see = (seen: boolean): Promise<void> =>
    page.evaluate((away) => {
      (window as { away?: boolean }).away = away;
      document.dispatchEvent(new Event('visibilitychange'));
    }, !seen);
  await open(page, await borrow(request, site.address));
  await expect(page.locator('#connection-words')).toHaveText(/^\d+ ms$/);
  const places = await page.evaluate(() => ['7 ms', '321 ms', 'Connecting…'].map((words) => {
    document.getElementById('connection-words')!.textContent = words;
    return document.getElementById('time-left')!.getBoundingClientRect().left;
  }));
  expect(new Set(places).size, 'a longer round trip moves nothing').toBe(1);
  await page.locator('#connection').focus();
  await page.keyboard.press('Enter');
  const figures = page.getByRole('group', { name: 'Connection' });
  await expect(figures).toBeVisible();
  await expect(page.locator('#figure-rate')).toHaveText(/^[1-9]\d* per second$/);
  await expect(page.locator('#figure-data')).toHaveText(/^[1-9]\d* kbit\/s$/);
  await expect(page.locator('#figure-skipped')).toHaveText(/^\d+$/);
  await accessible(page, 'figures of the connection');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await figures.evaluate((menu) => menu.getBoundingClientRect().left)).toBeGreaterThanOrEqual(0);
  await page.setViewportSize({ width: 1280, height: 720 });

  await see(false);
  await expect(page.locator('#figure-rate')).toHaveText('0 per second');
  await see(true);
  await expect(page.locator('#figure-rate')).toHaveText(/^[1-9]\d* per second$/);
  await page.keyboard.press('Escape');
  await expect(figures).toBeHidden();
  await expect(page.locator('#connection')).toBeFocused();
});

test('pictures are no larger than they are shown', async ({ page, request }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  // The page changes too often for a sharp still, which would have the page's own size, but slowly enough for any machine.
  await open(page, await borrow(request, `${site.address}#calm`));
  const width = (): Promise<number> => page.locator('#screen').evaluate((canvas: HTMLCanvasElement) => canvas.width);
  await expect.poll(width).toBeLessThan(600);
  await page.setViewportSize({ width: 1800, height: 1000 });
  await expect.poll(width).toBeGreaterThan(900);
});

test('a line that breaks takes nothing away', async ({ page, request, baseURL }) => {
  const session = await borrow(request, site.address);
  const line = new Line(Number(new URL(baseURL ?? '').port));
  await line.mend();
  try {
    await open(page, session, `http://127.0.0.1:${line.port}`);
    await page.getByRole('button', { name: 'Take control' }).click();
    await expect(page.locator('#control-words')).toHaveText('You are in control');
    const tabs = page.locator('.tab-button');
    const screen = page.locator('#screen');
    const shown = await screen.getAttribute('data-tab') ?? '';
    await page.getByRole('button', { name: 'New tab' }).click();
    await expect(tabs).toHaveCount(2);
    await expect(tabs.last()).toHaveAttribute('aria-current', 'page');
    await tabs.first().click();
    await expect(tabs.first()).toHaveAttribute('aria-current', 'page');

    line.cut();
    await expect(page.locator('#overlay')).toContainText('Connection lost');
    await expect(page.locator('#connection')).toContainText('Reconnecting…');
    await line.mend();
    await expect(page.locator('#overlay')).toBeHidden();
    await expect(page.locator('#control-words')).toHaveText('You are in control');
    await expect(tabs.first()).toHaveAttribute('aria-current', 'page');
    await expect(screen).toHaveAttribute('data-tab', shown); // a press on the picture of the other tab is for that one, and is told as lost
    const before = site.clicks;
    await new Remote(page).click({ x: 200, y: 100 });
    await expect.poll(() => site.clicks).toBe(before + 1);

    await page.locator('#connection').click();
    await expect(page.locator('#figure-rate')).toHaveText(/^[1-9]\d* per second$/);
  } finally {
    line.cut();
  }
});

test('a text typed while the line is cut arrives later, a press does not', async ({ page, request, baseURL }) => {
  const session = await borrow(request, site.address);
  const line = new Line(Number(new URL(baseURL ?? '').port));
  await line.mend();
  try {
    await open(page, session, `http://127.0.0.1:${line.port}`);
    const remote = new Remote(page);
    await remote.click({ x: 200, y: 270 });
    await expect(page.locator('#control-words')).toHaveText('You are in control');
    await page.keyboard.type('before ');
    await expect.poll(() => site.typed).toBe('before ');

    line.cut();
    await expect(page.locator('#overlay')).toContainText('Connection lost');
    await page.locator('#keys').focus();
    const clicks = site.clicks;
    await page.keyboard.type('meanwhile ');
    await remote.click({ x: 200, y: 100 });
    await page.locator('#keys').focus();
    await line.mend();
    await expect(page.locator('#overlay')).toBeHidden();
    await expect(page.locator('#control-words')).toHaveText('You are in control');
    await page.keyboard.type('after');
    await expect.poll(() => site.typed).toBe('before meanwhile after');
    expect(site.clicks).toBe(clicks);
  } finally {
    line.cut();
  }
});

test('a page that took nothing for too long says why it was disconnected, and comes back', async ({ page, request }) => {
  const own = await serve(Number(process.env.E2E_PORT) + 4_000, ['--stall-timeout', '2s']);
  const line = new Line(Number(new URL(own.url).port));
  try {
    const made = await request.post(`${own.url}/v1/sessions`, { headers: auth(), data: { url: site.address } });
    await line.mend();
    await open(page, (await made.json()).id, `http://127.0.0.1:${line.port}`);
    // Records every text of the overlay, because this one is gone when the page has reconnected.
    await page.evaluate(() => {
      const said: string[] = ((window as { said?: string[] }).said = []);
      const text = document.querySelector('#overlay-text');
      if (text) new MutationObserver(() => said.push(text.textContent)).observe(text, { childList: true, characterData: true, subtree: true });
    });
    line.silence();
    await expect.poll(async () => (await request.get(`${own.url}/metrics`, { headers: auth() })).text()).toContain('takeover_viewers_dropped_total{reason="stalled"} 1');
    line.resume();
    await expect(page.locator('#toasts')).toContainText('Reconnected. This page had received nothing for too long');
    expect(await page.evaluate(() => (window as { said?: string[] }).said)).toContain('This page received nothing for too long, so the server closed the connection. Reconnecting…');
    await expect(page.locator('#overlay')).toBeHidden();
    await expect(page.locator('#connection-words')).toHaveText(/^\d+ ms$/);
  } finally {
    line.cut();
    await own.close();
  }
});

test('tabs can be pressed, and keep the focus, while a page changes its title', async ({ page, request }) => {
  await open(page, await borrow(request, `${site.address}#title`));
  await page.getByRole('button', { name: 'Take control' }).click();
  await page.getByRole('button', { name: 'New tab' }).click();
  const tabs = page.locator('.tab-button');
  await expect(tabs).toHaveCount(2);
  await expect(tabs.last()).toHaveAttribute('aria-current', 'page');
  const changes = async (): Promise<void> => {
    const before = await tabs.first().getAttribute('title') ?? '';
    await expect(tabs.first()).not.toHaveAttribute('title', before);
  };
  await changes();
  await tabs.first().hover();
  await page.mouse.down();
  await changes();
  await page.mouse.up();
  await expect(tabs.first()).toHaveAttribute('aria-current', 'page');
  await changes();
  await expect(tabs.first()).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(tabs).toHaveCount(1);
});

test('a line that goes silent is given up, also before it opened', async ({ page, request, baseURL }) => {
  const line = new Line(Number(new URL(baseURL ?? '').port));
  await line.mend();
  try {
    await page.clock.install();
    await open(page, await borrow(request, site.address), `http://127.0.0.1:${line.port}`);
    await page.getByRole('button', { name: 'Take control' }).click();
    await expect(page.locator('#control-words')).toHaveText('You are in control');
    line.silence();
    // What was on its way before the silence may reach the page after the clock was moved, and counts as a sign of life.
    await expect(async () => {
      await page.clock.fastForward(11_000);
      await expect(page.locator('#overlay')).toContainText('Connection lost', { timeout: 1_000 });
    }).toPass();
    await expect(page.locator('#connection')).toContainText('Connecting…');
    line.speak();
    await page.clock.fastForward(11_000);
    await expect(page.locator('#overlay')).toBeHidden();
    await expect(page.locator('#control-words')).toHaveText('You are in control');
  } finally {
    line.cut();
  }
});

test('a guest whose link ends while the line is cut is told so', async ({ page, request, baseURL }) => {
  const session = await borrow(request, site.address);
  const link = await (await request.post(`/v1/sessions/${session}/links`, { headers: auth(), data: { role: 'view' } })).json();
  const line = new Line(Number(new URL(baseURL ?? '').port));
  await line.mend();
  try {
    const { pathname, hash } = new URL(link.url);
    await page.goto(`http://127.0.0.1:${line.port}${pathname}${hash}`);
    await expect(page.locator('#connection-words')).toHaveText(/^\d+ ms$/);
    await hasPicture(page);
    line.cut();
    await expect(page.locator('#overlay')).toContainText('Connection lost');
    expect((await request.delete(`/v1/sessions/${session}/links/${link.id}`, { headers: auth() })).status()).toBe(204);
    await line.mend();
    await expect(page.getByRole('heading', { name: 'You cannot see this session' })).toBeVisible();
    await expect(page.locator('#overlay-text')).toContainText('Ask the person who sent you the link for a new one.');
    await expect(page.locator('#connection')).toContainText('Closed');
  } finally {
    line.cut();
  }
});

test('a session that ends while the line is cut says why', async ({ page, request, baseURL }) => {
  const session = await sessionAt(request);
  const line = new Line(Number(new URL(baseURL ?? '').port));
  await line.mend();
  try {
    await open(page, session, `http://127.0.0.1:${line.port}`);
    line.cut();
    await expect(page.locator('#overlay')).toContainText('Connection lost');
    expect((await request.post(`/v1/sessions/${session}/release`, { headers: auth() })).status()).toBe(200);
    await line.mend();
    await expect(page.locator('#overlay')).toContainText('A program ended it over the API');
    await expect(page.locator('#connection')).toContainText('Closed');
  } finally {
    line.cut();
  }
});

test('a session that is over says why, and what to do', async ({ page, request }) => {
  const session = await sessionAt(request);
  await open(page, session);
  await request.post(`/v1/sessions/${session}/release`, { headers: auth() });
  const overlay = page.locator('#overlay');
  await expect(overlay).toContainText('A program ended it over the API');
  await expect(overlay).toContainText('new session');
  await expect(page.getByRole('link', { name: 'All sessions' })).toBeVisible();
  await expect(page.locator('#connection')).toContainText('Closed');

  const short = await sessionAt(request);
  await open(page, short);
  await request.patch(`/v1/sessions/${short}`, { headers: auth(), data: { timeout: 1_000 } });
  await expect(overlay).toContainText('Time is up');
  await accessible(page, 'a session whose time is up');
});
