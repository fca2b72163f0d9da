// https://playwright.dev/docs/api-testing
import { test, expect } from '@playwright/test';

test.describe('the request fixture', () => {
  test('get with params as object, text and URLSearchParams', async ({ request }) => {
    const url = async (params: any) => (await (await request.get('/echo', { params })).json()).url;
    expect(await url({ a: 1, b: 'x y', c: true })).toBe('/echo?a=1&b=x+y&c=true');
    expect(await url('a=1&b=2')).toBe('/echo?a=1&b=2');
    expect(await url(new URLSearchParams([['a', '1'], ['a', '2']]))).toBe('/echo?a=1&a=2');
  });

  test('all methods', async ({ request }) => {
    for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) expect((await (await request[method]('/echo')).json()).method).toBe(method.toUpperCase());
    const head = await request.head('/echo');
    expect([head.status(), head.headers()['x-seen'], await head.text()]).toEqual([200, 'HEAD', '']);
    expect((await (await request.fetch('/echo', { method: 'OPTIONS' })).json()).method).toBe('OPTIONS');
  });

  test('data as object, text and bytes', async ({ request }) => {
    let seen = await (await request.post('/echo', { data: { a: [1, null] } })).json();
    expect([seen.headers['content-type'], seen.body]).toEqual(['application/json', '{"a":[1,null]}']);
    seen = await (await request.post('/echo', { data: 'text' })).json();
    expect(seen.body).toBe('text');
    seen = await (await request.post('/echo', { data: Buffer.from('bytes') })).json();
    expect([seen.headers['content-type'], seen.body]).toEqual(['application/octet-stream', 'bytes']);
    seen = await (await request.post('/echo', { data: 'x', headers: { 'Content-Type': 'text/x' } })).json();
    expect(seen.headers['content-type']).toBe('text/x');
  });

  test('form', async ({ request }) => {
    const seen = await (await request.post('/echo', { form: { title: 'a b', n: 1, ok: true } })).json();
    expect([seen.headers['content-type'], seen.body]).toEqual(['application/x-www-form-urlencoded', 'title=a+b&n=1&ok=true']);
  });

  test('multipart with fields and files', async ({ request }) => {
    const response = await request.post('/upload', { multipart: { name: 'Ada', file: { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('content') } } });
    expect(await response.json()).toEqual({ fields: { name: ['Ada'] }, files: [{ Field: 'file', Name: 'a.txt', Type: 'text/plain', Text: 'content' }] });
  });

  test('multipart as FormData', async ({ request }) => {
    const form = new FormData();
    form.append('tag', 'one');
    form.append('tag', 'two');
    const answer = await (await request.post('/upload', { multipart: form })).json();
    expect(answer.fields).toEqual({ tag: ['one', 'two'] });
  });

  test('status, ok, statusText, url, headers', async ({ request, baseURL }) => {
    const response = await request.get('/status/404');
    expect([response.status(), response.ok(), response.statusText(), response.url()]).toEqual([404, false, 'Not Found', baseURL + '/status/404']);
    expect(response.headers()['content-type']).toBe('text/plain');
    const echo = await request.get('/echo');
    expect(echo.headersArray().filter(h => h.name.toLowerCase() === 'x-twice').map(h => h.value)).toEqual(['first', 'second']);
  });

  test('body, text, json; and refused after dispose', async ({ request }) => {
    const response = await request.get('/data.json');
    expect(await response.json()).toEqual({ name: 'Ada', tags: ['x', 'y'] });
    expect((await response.body()).toString()).toBe(await response.text());
    await response.dispose();
    await expect(response.text()).rejects.toThrow('Response has been disposed');
  });

  test('compressed answers', async ({ request }) => {
    expect((await (await request.get('/gzip')).text()).length).toBe(900);
  });

  test('redirects are followed, up to a limit', async ({ request, baseURL }) => {
    const response = await request.get('/redirect?to=one');
    expect([response.status(), response.url()]).toEqual([200, baseURL + '/one']);
    expect((await request.get('/redirect?to=one', { maxRedirects: 0 })).status()).toBe(302);
    await expect(request.get('/redirect?to=one&times=5', { maxRedirects: 2 })).rejects.toThrow('Max redirect count exceeded');
  });

  test('failOnStatusCode', async ({ request }) => {
    await expect(request.get('/status/500', { failOnStatusCode: true })).rejects.toThrow('500 Internal Server Error');
  });

  test('timeout', async ({ request }) => {
    await expect(request.get('/slow?ms=4000', { timeout: 150 })).rejects.toThrow('apiRequestContext.get: Timeout 150ms exceeded.');
  });

  test('refused connection', async ({ request }) => {
    await expect(request.get('http://127.0.0.1:1/')).rejects.toThrow('ECONNREFUSED');
  });

  test('headers of one request', async ({ request }) => {
    const seen = await (await request.get('/echo', { headers: { 'X-One': '1', 'User-Agent': 'mine' } })).json();
    expect([seen.headers['x-one'], seen.headers['user-agent']]).toEqual(['1', 'mine']);
  });

  test('cookies are kept', async ({ request }) => {
    await request.get('/cookie?name=a&value=1');
    expect(await (await request.get('/cookie')).text()).toContain('a=1');
    expect((await request.storageState()).cookies.map(c => c.name + '=' + c.value)).toEqual(['a=1']);
  });

  test('toBeOK', async ({ request }) => {
    await expect(await request.get('/one')).toBeOK();
    await expect(await request.get('/status/404')).not.toBeOK();
    await expect(expect(await request.get('/status/404')).toBeOK()).rejects.toThrow(/404 Not Found/);
  });
});

test.describe('page.request and context.request', () => {
  test('share cookies with the pages', async ({ page, context }) => {
    await page.request.get('/cookie?name=api&value=1');
    await page.goto('/cookie');
    await expect(page.locator('#cookies')).toHaveText('api=1');
    await page.goto('/cookie?name=page&value=2');
    expect(await (await context.request.get('/cookie')).text()).toContain('page=2');
    expect(page.request).toBe(context.request);
  });

  test('the request fixture has its own cookies', async ({ page, request }) => {
    await page.goto('/cookie?name=a&value=1');
    expect(await (await request.get('/cookie')).text()).toContain('<p id=cookies></p>');
  });

  test('fetch of a Request repeats it', async ({ page }) => {
    await page.goto('/empty');
    const [request] = await Promise.all([page.waitForRequest('**/echo'), page.evaluate(() => fetch('/echo', { method: 'POST', body: 'again', headers: { 'x-a': 'b' } }))]);
    const seen = await (await page.request.fetch(request)).json();
    expect([seen.method, seen.body, seen.headers['x-a']]).toEqual(['POST', 'again', 'b']);
  });
});

test.describe('a context of one\'s own', () => {
  test('newContext with baseURL and headers', async ({ playwright, baseURL }) => {
    const api = await playwright.request.newContext({ baseURL, extraHTTPHeaders: { authorization: 'token x' } });
    const seen = await (await api.get('/echo')).json();
    expect(seen.headers.authorization).toBe('token x');
    await api.dispose();
    await expect(api.get('/echo')).rejects.toThrow(/closed|disposed/);
  });

  test('storageState goes from one to another', async ({ playwright, baseURL }) => {
    const a = await playwright.request.newContext({ baseURL });
    await a.get('/cookie?name=k&value=v');
    const b = await playwright.request.newContext({ baseURL, storageState: await a.storageState() });
    expect(await (await b.get('/cookie')).text()).toContain('k=v');
    await a.dispose();
    await b.dispose();
  });

  test('httpCredentials', async ({ playwright, baseURL }) => {
    const api = await playwright.request.newContext({ baseURL, httpCredentials: { username: 'ada', password: 'engine' } });
    expect((await api.get('/basic')).status()).toBe(200);
    await api.dispose();
    const other = await playwright.request.newContext({ baseURL });
    expect((await other.get('/basic')).status()).toBe(401);
    await other.dispose();
  });
});
