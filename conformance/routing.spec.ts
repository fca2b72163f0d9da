// https://playwright.dev/docs/network and /docs/mock
import { test, expect, type Route } from '@playwright/test';

const get = (url: string) => `fetch(${JSON.stringify(url)}).then(r => r.text())`;

test.describe('fulfill', () => {
  test('a file that is not there is an error, and the request can still be answered', async ({ page }) => {
    await page.goto('/empty');
    const failed = new Promise<string>(resolve => page.route('**/api', async route => {
      await route.fulfill({ path: 'not-there.json' }).catch(error => resolve(error.message));
      await route.fulfill({ body: 'instead' });
    }));
    expect(await page.evaluate(get('/api'))).toBe('instead');
    expect(await failed).toMatch(/ENOENT: no such file or directory, open '.*not-there\.json'/);
  });

  test('with status, headers, content type and body', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/api', route => route.fulfill({ status: 201, headers: { 'x-made': 'yes' }, contentType: 'text/plain', body: 'made up' }));
    expect(await page.evaluate(async () => { const r = await fetch('/api'); return [r.status, r.headers.get('x-made'), r.headers.get('content-type'), await r.text()]; })).toEqual([201, 'yes', 'text/plain', 'made up']);
  });

  test('with json', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/api', route => route.fulfill({ json: [{ name: 'Strawberry' }] }));
    expect(await page.evaluate(async () => { const r = await fetch('/api'); return [r.headers.get('content-type'), await r.json()]; })).toEqual(['application/json', [{ name: 'Strawberry' }]]);
  });

  test('with bytes', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/api', route => route.fulfill({ body: Buffer.from([0, 255, 128]) }));
    expect(await page.evaluate(async () => [...new Uint8Array(await (await fetch('/api')).arrayBuffer())])).toEqual([0, 255, 128]);
  });

  test('with the response of route.fetch, changed', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/data.json', async route => {
      const response = await route.fetch();
      const json = await response.json();
      json.name += ' changed';
      await route.fulfill({ response, json });
    });
    expect(await page.evaluate(async () => { const r = await fetch('/data.json'); return [r.status, await r.json()]; })).toEqual([200, { name: 'Ada changed', tags: ['x', 'y'] }]);
  });

  test('a whole page', async ({ page }) => {
    await page.route('**/made', route => route.fulfill({ contentType: 'text/html', body: '<title>Made</title><h1>up</h1>' }));
    const response = await page.goto('/made');
    expect(response!.status()).toBe(200);
    await expect(page).toHaveTitle('Made');
  });

  test('a host that does not exist', async ({ page }) => {
    await page.route('http://nowhere.invalid/**', route => route.fulfill({ contentType: 'text/html', body: '<title>Nowhere</title>' }));
    await page.goto('http://nowhere.invalid/x');
    await expect(page).toHaveTitle('Nowhere');
    expect(page.url()).toBe('http://nowhere.invalid/x');
  });

  test('a redirect', async ({ page, baseURL }) => {
    await page.route('**/go', route => route.fulfill({ status: 302, headers: { location: '/one' } }));
    await page.goto('/go');
    expect(page.url()).toBe(baseURL + '/one');
  });
});

test.describe('continue, abort, fallback', () => {
  test('continue with another method, headers and data', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/echo', route => route.continue({ method: 'PUT', headers: { ...route.request().headers(), 'x-added': '1' }, postData: 'changed' }));
    const seen = JSON.parse(await page.evaluate(get('/echo')) as string);
    expect([seen.method, seen.headers['x-added'], seen.body]).toEqual(['PUT', '1', 'changed']);
  });

  test('continue to another address is not seen by the page', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/elsewhere', (route, request) => route.continue({ url: request.url().replace('elsewhere', 'data.json') }));
    const [body, url] = await page.evaluate(async () => { const r = await fetch('/elsewhere'); return [await r.text(), r.url]; });
    expect(body).toContain('Ada');
    expect(url).toMatch(/\/elsewhere$/);
  });

  test('abort, with a reason', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/api', route => route.abort());
    await page.route('**/other', route => route.abort('internetdisconnected'));
    const failed: string[] = [];
    page.on('requestfailed', r => failed.push(r.failure()!.errorText));
    expect(await page.evaluate(() => fetch('/api').catch(e => e.message))).toBe('Failed to fetch');
    await page.evaluate(() => fetch('/other').catch(e => e.message));
    await expect.poll(() => failed).toEqual(['net::ERR_FAILED', 'net::ERR_INTERNET_DISCONNECTED']);
  });

  test('aborting a navigation', async ({ page }) => {
    await page.route('**/one', route => route.abort());
    await expect(page.goto('/one')).rejects.toThrow('net::ERR_FAILED');
  });

  test('abort images', async ({ page }) => {
    await page.route('**/*', route => route.request().resourceType() === 'image' ? route.abort() : route.continue());
    await page.goto('/assets');
    expect(await page.evaluate('[document.images[0].naturalWidth, window.scriptRan]')).toEqual([0, true]);
  });

  test('the last route runs first; fallback hands on', async ({ page }) => {
    await page.goto('/empty');
    const order: string[] = [];
    await page.route('**/api', route => { order.push('first'); return route.fulfill({ body: route.request().headers()['x-by'] }); });
    await page.route('**/api', route => { order.push('second'); return route.fallback({ headers: { ...route.request().headers(), 'x-by': 'second' } }); });
    await page.route('**/api', route => { order.push('third'); return route.fallback(); });
    expect(await page.evaluate(get('/api'))).toBe('second');
    expect(order).toEqual(['third', 'second', 'first']);
  });

  test('fallback of the last one goes to the network', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/data.json', route => route.fallback());
    expect(await page.evaluate(get('/data.json'))).toContain('Ada');
  });

  test('page routes come before those of the context', async ({ page, context }) => {
    await page.goto('/empty');
    await context.route('**/api', route => route.fulfill({ body: 'context' }));
    expect(await page.evaluate(get('/api'))).toBe('context');
    await page.route('**/api', route => route.fulfill({ body: 'page' }));
    expect(await page.evaluate(get('/api'))).toBe('page');
    await page.unroute('**/api');
    expect(await page.evaluate(get('/api'))).toBe('context');
  });

  test('handling twice is refused', async ({ page }) => {
    await page.goto('/empty');
    const handled = new Promise<string>(resolve => void page.route('**/api', async route => {
      await route.fulfill({ body: 'x' });
      await route.continue().catch((e: Error) => resolve(e.message));
    }));
    await page.evaluate(get('/api'));
    expect(await handled).toContain('Route is already handled!');
  });
});

test.describe('matching', () => {
  test('glob, regexp, function', async ({ page }) => {
    await page.goto('/empty');
    const hit = (name: string) => (route: Route) => route.fulfill({ body: name });
    await page.route('**/glob/*.{png,jpg}', hit('glob'));
    await page.route(/regexp\/\d+$/, hit('regexp'));
    await page.route(url => url.searchParams.has('fn'), hit('function'));
    await page.route('/relative', hit('relative'));
    expect(await page.evaluate(get('/glob/a.jpg'))).toBe('glob');
    expect(await page.evaluate(get('/regexp/12'))).toBe('regexp');
    expect(await page.evaluate(get('/status/204x?fn=1'))).toBe('function');
    expect(await page.evaluate(get('/relative'))).toBe('relative');
    expect(await page.evaluate(async () => (await fetch('/glob/deep/a.png')).status)).toBe(404);
  });

  test('times', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/data.json', route => route.fulfill({ body: 'once' }), { times: 1 });
    expect(await page.evaluate(get('/data.json'))).toBe('once');
    expect(await page.evaluate(get('/data.json'))).toContain('Ada');
  });

  test('unroute by handler, unrouteAll', async ({ page }) => {
    await page.goto('/empty');
    const a = (route: Route) => route.fulfill({ body: 'a' }), b = (route: Route) => route.fulfill({ body: 'b' });
    await page.route('**/data.json', a);
    await page.route('**/data.json', b);
    expect(await page.evaluate(get('/data.json'))).toBe('b');
    await page.unroute('**/data.json', b);
    expect(await page.evaluate(get('/data.json'))).toBe('a');
    await page.unrouteAll({ behavior: 'wait' });
    expect(await page.evaluate(get('/data.json'))).toContain('Ada');
  });

  test('what a handler sees of the request', async ({ page, baseURL }) => {
    await page.goto('/empty');
    const seen: unknown[] = [];
    await page.route('**/api', (route, request) => {
      seen.push(request === route.request(), request.method(), request.url(), request.postData(), request.postDataJSON(), request.headers()['content-type'], request.resourceType(), request.isNavigationRequest(), request.frame() === page.mainFrame());
      return route.fulfill({ body: '' });
    });
    await page.evaluate(() => fetch('/api', { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } }));
    expect(seen).toEqual([true, 'POST', baseURL + '/api', '{"a":1}', { a: 1 }, 'application/json', 'fetch', false, true]);
  });

  test('route.fetch can change what it asks', async ({ page }) => {
    await page.goto('/empty');
    await page.route('**/api', async (route, request) => {
      const response = await route.fetch({ url: request.url().replace('/api', '/echo'), method: 'POST', postData: { asked: true }, headers: { ...request.headers(), 'x-from': 'route' } });
      expect(response.status()).toBe(200);
      await route.fulfill({ response });
    });
    const seen = JSON.parse(await page.evaluate(get('/api')) as string);
    expect([seen.method, seen.body, seen.headers['x-from']]).toEqual(['POST', '{"asked":true}', 'route']);
  });

  test('requests of popups and frames go through the context', async ({ page, context }) => {
    const seen: string[] = [];
    await context.route('**/*', route => { seen.push(new URL(route.request().url()).pathname); return route.continue(); });
    await page.goto('/framed');
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { window.open('/popup'); })]);
    await popup.waitForLoadState();
    expect(seen).toEqual(['/framed', '/inner', '/popup']);
  });

  test('a page that already has a worker', async ({ page }) => {
    await page.goto('/empty');
    expect(await page.evaluate(() => new Promise(done => {
      const worker = (window as any).worker = new Worker(URL.createObjectURL(new Blob(['onmessage = e => fetch(e.data).then(r => r.text()).then(postMessage, e => postMessage(String(e))); postMessage(1)'])));
      worker.onmessage = (e: MessageEvent) => done(e.data);
    }))).toBe(1);
    await page.route('http://q.example/**', route => route.fulfill({ headers: { 'access-control-allow-origin': '*' }, body: 'made up' }));
    expect(await page.evaluate(() => new Promise(done => {
      (window as any).worker.onmessage = (e: MessageEvent) => done(e.data);
      (window as any).worker.postMessage('http://q.example/data');
    }))).toBe('made up');
    await page.unrouteAll();
  });
});

test.describe('settings of the network', () => {
  test('setExtraHTTPHeaders of page and context', async ({ page, context }) => {
    await context.setExtraHTTPHeaders({ 'x-context': 'c', 'x-both': 'c' });
    await page.setExtraHTTPHeaders({ 'x-page': 'p', 'x-both': 'p' });
    const headers = (await (await page.goto('/echo'))!.json()).headers;
    expect([headers['x-context'], headers['x-page'], headers['x-both']]).toEqual(['c', 'p', 'p']);
  });

  test('offline', async ({ page, context }) => {
    await page.goto('/one');
    await context.setOffline(true);
    expect(await page.evaluate('navigator.onLine')).toBe(false);
    await expect(page.goto('/two')).rejects.toThrow('net::ERR_INTERNET_DISCONNECTED');
    await context.setOffline(false);
    expect((await page.goto('/two'))!.ok()).toBe(true);
  });

  test.describe('credentials', () => {
    test.use({ httpCredentials: { username: 'ada', password: 'engine' } });

    test('are sent when asked for', async ({ page }) => {
      expect((await page.goto('/basic'))!.status()).toBe(200);
      await expect(page.locator('body')).toHaveText('hello ada');
    });
  });

  test('without credentials Chromium refuses', async ({ page }) => {
    await expect(page.goto('/basic')).rejects.toThrow('net::ERR_INVALID_AUTH_CREDENTIALS');
  });

  test('wrong credentials are 401 too', async ({ browser, baseURL }) => {
    const context = await browser.newContext({ baseURL, httpCredentials: { username: 'x', password: 'y' } });
    const page = await context.newPage();
    expect((await page.goto('/basic'))!.status()).toBe(401);
    await context.close();
  });

  test.describe('extra headers of the context', () => {
    test.use({ extraHTTPHeaders: { 'x-option': 'set' } });

    test('are sent by page and request', async ({ page, request }) => {
      expect((await (await page.goto('/echo'))!.json()).headers['x-option']).toBe('set');
      expect((await (await request.get('/echo')).json()).headers['x-option']).toBe('set');
    });
  });
});
