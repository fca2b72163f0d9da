// https://playwright.dev/docs/network#network-events, /docs/api/class-request, /docs/api/class-response
import { test, expect, type Request } from '@playwright/test';

const path = (r: { url(): string }) => new URL(r.url()).pathname;

test('request, response, requestfinished come in order', async ({ page }) => {
  const log: string[] = [];
  page.on('request', r => log.push('request ' + path(r)));
  page.on('response', r => log.push('response ' + path(r) + ' ' + r.status()));
  page.on('requestfinished', r => log.push('finished ' + path(r)));
  await page.goto('/one');
  await expect.poll(() => log).toEqual(['request /one', 'response /one 200', 'finished /one']);
});

test('the context tells of all pages', async ({ context, page }) => {
  const log: string[] = [];
  context.on('request', r => log.push(path(r)));
  await page.goto('/one');
  const second = await context.newPage();
  await second.goto('/two');
  expect(log).toEqual(['/one', '/two']);
});

test('requestfailed', async ({ page }) => {
  await page.goto('/empty');
  const failed = page.waitForEvent('requestfailed');
  await page.evaluate(() => fetch('/drop').catch(() => {}));
  const request = await failed;
  expect(request.failure()!.errorText).toBe('net::ERR_EMPTY_RESPONSE');
  expect(await request.response()).toBe(null);
});

test('failure is null for what worked', async ({ page }) => {
  const response = (await page.goto('/one'))!;
  expect(response.request().failure()).toBe(null);
});

test('waitForRequest by URL, regexp and predicate', async ({ page }) => {
  await page.goto('/empty');
  const [a, b, c] = await Promise.all([
    page.waitForRequest('**/echo?n=1'),
    page.waitForRequest(/n=2$/),
    page.waitForRequest(r => r.url().includes('n=3') && r.method() === 'POST'),
    page.evaluate(() => { void fetch('/echo?n=1'); void fetch('/echo?n=2'); void fetch('/echo?n=3', { method: 'POST' }); }),
  ]);
  expect([a, b, c].map(r => new URL(r.url()).search)).toEqual(['?n=1', '?n=2', '?n=3']);
});

test('waitForResponse by URL, regexp and async predicate', async ({ page }) => {
  await page.goto('/empty');
  const [a, b, c] = await Promise.all([
    page.waitForResponse('**/data.json'),
    page.waitForResponse(/status\/404/),
    page.waitForResponse(async r => r.url().includes('/echo') && (await r.text()).includes('GET')),
    page.evaluate(() => { void fetch('/data.json'); void fetch('/status/404'); void fetch('/echo'); }),
  ]);
  expect([a.status(), b.status(), c.status()]).toEqual([200, 404, 200]);
});

test('waitForRequest and waitForResponse time out', async ({ page }) => {
  await expect(page.waitForRequest('**/never', { timeout: 120 })).rejects.toThrow('page.waitForRequest: Timeout 120ms exceeded while waiting for event "request"');
  await expect(page.waitForResponse('**/never', { timeout: 120 })).rejects.toThrow('page.waitForResponse: Timeout 120ms exceeded while waiting for event "response"');
});

test('resource types', async ({ page }) => {
  const types = new Map<string, string>();
  page.on('request', r => types.set(path(r), r.resourceType()));
  await page.goto('/assets');
  await page.evaluate(() => fetch('/data.json'));
  await page.evaluate(() => new Promise(f => { const x = new XMLHttpRequest(); x.open('GET', '/echo'); x.onload = f; x.send(); }));
  expect(Object.fromEntries(types)).toEqual({ '/assets': 'document', '/style.css': 'stylesheet', '/script.js': 'script', '/pixel.png': 'image', '/data.json': 'fetch', '/echo': 'xhr' });
});

test('headers of the request', async ({ page }) => {
  await page.goto('/cookie?name=a&value=1');
  const [request] = await Promise.all([page.waitForRequest('**/echo'), page.evaluate(() => fetch('/echo', { headers: { 'X-Own': 'Value' } }))]);
  expect(request.headers()['x-own']).toBe('Value');
  expect((await request.allHeaders())['cookie']).toBe('a=1');
  expect(await request.headerValue('X-Own')).toBe('Value');
  expect(await request.headerValue('nobody')).toBe(null);
  expect((await request.headersArray()).find(h => h.name.toLowerCase() === 'x-own')!.value).toBe('Value');
});

test('headers of the response', async ({ page }) => {
  const response = (await page.goto('/echo'))!;
  expect(response.headers()['x-seen']).toBe('GET');
  expect(await response.headerValue('X-Seen')).toBe('GET');
  expect(await response.headerValues('x-twice')).toEqual(['first', 'second']);
  expect(await response.headerValue('x-twice')).toBe('first, second');
  expect((await response.headersArray()).filter(h => h.name.toLowerCase() === 'x-twice')).toHaveLength(2);
  expect((await response.allHeaders())['content-type']).toBe('application/json');
});

test('bodies: text, json, body, compressed', async ({ page }) => {
  const response = (await page.goto('/data.json'))!;
  expect(await response.json()).toEqual({ name: 'Ada', tags: ['x', 'y'] });
  expect(await response.text()).toBe('{"name":"Ada","tags":["x","y"]}');
  expect((await response.body()).length).toBe(31);
  const squeezed = (await page.goto('/gzip'))!;
  expect((await squeezed.text()).slice(0, 17)).toBe('squeezed squeezed');
  expect((await squeezed.body()).length).toBe(900);
});

test('body of an image', async ({ page }) => {
  const [response] = await Promise.all([page.waitForResponse('**/pixel.png'), page.goto('/assets')]);
  expect((await response.body()).subarray(1, 4).toString()).toBe('PNG');
});

test('body of a redirect is refused', async ({ page }) => {
  const response = (await page.goto('/redirect?to=one'))!;
  const first = (await response.request().redirectedFrom()!.response())!;
  expect(first.status()).toBe(302);
  await expect(first.text()).rejects.toThrow('Response body is unavailable for redirect responses');
});

test('json of something else is refused', async ({ page }) => {
  const response = (await page.goto('/one'))!;
  await expect(response.json()).rejects.toThrow('Unexpected token \'<\', "<!doctype "... is not valid JSON');
});

test('post data: text, form, bytes', async ({ page }) => {
  await page.goto('/empty');
  const sent: Request[] = [];
  page.on('request', r => sent.push(r));
  await page.evaluate(async () => {
    await fetch('/echo', { method: 'POST', body: 'plain' });
    await fetch('/echo', { method: 'POST', body: new URLSearchParams({ a: '1', b: 'x y' }) });
    await fetch('/echo', { method: 'POST', body: new Uint8Array([1, 2, 3]) });
    await fetch('/echo');
  });
  expect(sent[0].postData()).toBe('plain');
  expect(sent[1].postDataJSON()).toEqual({ a: '1', b: 'x y' });
  expect([...sent[2].postDataBuffer()!]).toEqual([1, 2, 3]);
  expect([sent[3].postData(), sent[3].postDataBuffer(), sent[3].postDataJSON()]).toEqual([null, null, null]);
});

test('timing and sizes', async ({ page }) => {
  const response = (await page.goto('/slow?ms=60'))!;
  await response.finished();
  const timing = response.request().timing();
  expect(timing.startTime).toBeGreaterThan(1_500_000_000_000);
  expect(timing.responseStart).toBeGreaterThanOrEqual(timing.requestStart);
  expect(timing.responseStart).toBeGreaterThan(50);
  expect(timing.responseEnd).toBeGreaterThanOrEqual(timing.responseStart);
  const sizes = await response.request().sizes();
  expect(sizes.responseBodySize).toBe('<!doctype html><title>Slow</title>slow'.length);
  expect(sizes.requestBodySize).toBe(0);
  expect(sizes.requestHeadersSize).toBeGreaterThan(50);
  expect(sizes.responseHeadersSize).toBeGreaterThan(50);
});

test('serverAddr, securityDetails, fromServiceWorker, finished', async ({ page, baseURL }) => {
  const response = (await page.goto('/one'))!;
  expect(await response.serverAddr()).toEqual({ ipAddress: '127.0.0.1', port: Number(new URL(baseURL!).port) });
  expect((await response.securityDetails())?.protocol).toBe(undefined);
  expect(response.fromServiceWorker()).toBe(false);
  expect(await response.finished()).toBe(null);
  expect(response.statusText()).toBe('OK');
});

test('request and response know each other', async ({ page }) => {
  const response = (await page.goto('/one'))!;
  expect(await response.request().response()).toBe(response);
  expect(response.request().isNavigationRequest()).toBe(true);
  expect(response.request().frame()).toBe(page.mainFrame());
  expect(response.request().method()).toBe('GET');
  expect(response.frame()).toBe(page.mainFrame());
});

test('requests of frames belong to the frame', async ({ page }) => {
  const [request] = await Promise.all([page.waitForRequest('**/inner'), page.goto('/framed')]);
  expect(request.frame()).toBe(page.frame('inner'));
  expect(request.isNavigationRequest()).toBe(true);
});

test('data: and about: make no requests that matter', async ({ page }) => {
  const seen: string[] = [];
  page.on('request', r => seen.push(r.url()));
  await page.goto('about:blank');
  await page.setContent('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">');
  expect(seen.filter(u => u.startsWith('http'))).toEqual([]);
});

test('redirects make a chain of requests', async ({ page }) => {
  const log: string[] = [];
  page.on('response', r => log.push(r.status() + ' ' + path(r)));
  await page.goto('/redirect?to=two&times=2');
  expect(log).toEqual(['302 /redirect', '302 /redirect', '200 /two']);
});

test('networkidle after clicks', async ({ page }) => {
  await page.goto('/empty');
  await page.setContent(`<button onclick="fetch('/slow?ms=150').then(r => r.text()).then(() => { window.came = true })">load</button>`);
  const [response] = await Promise.all([page.waitForResponse('**/slow*'), page.getByRole('button').click()]);
  await response.finished();
  await expect.poll(() => page.evaluate('window.came')).toBe(true);
});

test('WebSocket events', async ({ page, baseURL }) => {
  await page.goto('/empty');
  const url = baseURL!.replace('http', 'ws') + '/socket';
  const opened = page.waitForEvent('websocket');
  await page.evaluate(u => { const s = (window as any).s = new WebSocket(u); s.onopen = () => s.send('hello'); s.onmessage = () => s.send('close'); }, url);
  const socket = await opened;
  expect(socket.url()).toBe(url);
  const log: unknown[] = [];
  socket.on('framesent', f => log.push(['sent', f.payload]));
  socket.on('framereceived', f => log.push(['received', f.payload]));
  await socket.waitForEvent('close');
  expect(socket.isClosed()).toBe(true);
  expect(log).toEqual([['sent', 'hello'], ['received', 'echo hello'], ['sent', 'close']]);
});

test('routeWebSocket mocks a server', async ({ page }) => {
  await page.routeWebSocket('ws://mocked.test/chat', ws => {
    ws.onMessage(message => ws.send('got ' + message));
  });
  await page.goto('/empty');
  const answer = await page.evaluate(() => new Promise(resolve => {
    const s = new WebSocket('ws://mocked.test/chat');
    s.onopen = () => s.send('x');
    s.onmessage = e => resolve([e.data, s.url]);
  }));
  expect(answer).toEqual(['got x', 'ws://mocked.test/chat']);
});

test('routeWebSocket stands between page and server', async ({ page, baseURL }) => {
  await page.routeWebSocket(/\/socket$/, ws => {
    const server = ws.connectToServer();
    ws.onMessage(message => server.send(message + '!'));
    server.onMessage(message => ws.send('[' + message + ']'));
  });
  await page.goto('/empty');
  const answer = await page.evaluate(u => new Promise(resolve => {
    const s = new WebSocket(u);
    s.onopen = () => s.send('x');
    s.onmessage = e => resolve(e.data);
  }), baseURL!.replace('http', 'ws') + '/socket');
  expect(answer).toBe('[echo x!]');
});

test('routeWebSocket can close', async ({ page }) => {
  await page.routeWebSocket(/mocked/, ws => { void ws.close({ code: 3001, reason: 'go away' }); });
  await page.goto('/empty');
  const closed = await page.evaluate(() => new Promise(resolve => { const s = new WebSocket('ws://mocked.test'); s.onclose = e => resolve([e.code, e.reason, e.wasClean]); }));
  expect(closed).toEqual([3001, 'go away', true]);
});
