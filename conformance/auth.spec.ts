// https://playwright.dev/docs/auth and /docs/api/class-browsercontext
import { test, expect } from '@playwright/test';

test('addCookies and cookies', async ({ context, page, baseURL }) => {
  await context.addCookies([{ name: 'a', value: '1', url: baseURL }, { name: 'b', value: '2', domain: '127.0.0.1', path: '/cookie', httpOnly: true, sameSite: 'Lax' }]);
  await page.goto('/cookie');
  await expect(page.locator('#cookies')).toHaveText(/^(a=1; b=2|b=2; a=1)$/);
  const cookies = await context.cookies();
  expect(cookies.find(c => c.name === 'b')).toMatchObject({ value: '2', domain: '127.0.0.1', path: '/cookie', httpOnly: true, secure: false, sameSite: 'Lax', expires: -1 });
});

test('cookies of addresses', async ({ context, baseURL }) => {
  await context.addCookies([{ name: 'here', value: '1', url: baseURL }, { name: 'there', value: '2', url: 'https://other.test' }]);
  expect((await context.cookies(baseURL)).map(c => c.name)).toEqual(['here']);
  expect((await context.cookies('https://other.test/x')).map(c => c.name)).toEqual(['there']);
  expect((await context.cookies([baseURL!, 'https://other.test'])).map(c => c.name).sort()).toEqual(['here', 'there']);
  expect((await context.cookies('https://third.test'))).toEqual([]);
});

test('clearCookies: all, by name, domain, regexp', async ({ context, baseURL }) => {
  const names = async () => (await context.cookies()).map(c => c.name).sort();
  await context.addCookies(['a1', 'a2', 'b1', 'c1'].map(name => ({ name, value: 'x', url: baseURL })));
  await context.clearCookies({ name: 'b1' });
  expect(await names()).toEqual(['a1', 'a2', 'c1']);
  await context.clearCookies({ name: /^a/ });
  expect(await names()).toEqual(['c1']);
  await context.clearCookies({ domain: 'elsewhere.test' });
  expect(await names()).toEqual(['c1']);
  await context.clearCookies();
  expect(await names()).toEqual([]);
});

test('cookies with an end', async ({ context, baseURL }) => {
  const expires = Math.floor(Date.now() / 1000) + 3600;
  await context.addCookies([{ name: 'a', value: '1', url: baseURL, expires }]);
  expect(Math.round((await context.cookies())[0].expires)).toBe(expires);
});

test('a cookie without address is refused', async ({ context }) => {
  await expect(context.addCookies([{ name: 'a', value: '1' }])).rejects.toThrow('Cookie should have a url or a domain/path pair');
  await expect(context.addCookies([{ name: 'a', value: '1', url: 'about:blank' }])).rejects.toThrow('Blank page can not have cookie "a"');
  await expect(context.addCookies([{ name: 'a', value: '1', url: 'http://x.test', domain: 'x.test' }])).rejects.toThrow('Cookie should have either url or domain');
});

test('cookies that pages set', async ({ context, page }) => {
  await page.goto('/empty');
  await page.evaluate(() => { document.cookie = 'js=1; path=/'; });
  expect((await context.cookies()).map(c => [c.name, c.value, c.httpOnly])).toEqual([['js', '1', false]]);
});

test('storageState has cookies and localStorage', async ({ context, page, baseURL }) => {
  await page.goto('/cookie?name=a&value=1');
  await page.evaluate(() => localStorage.setItem('token', 'secret'));
  const state = await context.storageState();
  expect(state.cookies).toEqual([{ name: 'a', value: '1', domain: '127.0.0.1', path: '/', expires: -1, httpOnly: false, secure: false, sameSite: 'Lax' }]);
  expect(state.origins).toEqual([{ origin: baseURL, localStorage: [{ name: 'token', value: 'secret' }] }]);
});

test('a context starts with a storageState', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ baseURL, storageState: {
    cookies: [{ name: 'a', value: '1', domain: '127.0.0.1', path: '/', expires: -1, httpOnly: false, secure: false, sameSite: 'Lax' }],
    origins: [{ origin: baseURL!, localStorage: [{ name: 'token', value: 'known' }] }],
  } });
  const page = await context.newPage();
  await page.goto('/cookie');
  await expect(page.locator('#cookies')).toHaveText('a=1');
  expect(await page.evaluate(() => localStorage.getItem('token'))).toBe('known');
  await context.close();
});

test('storageState goes from one context to another', async ({ browser, context, page, baseURL }) => {
  await page.goto('/cookie?name=session&value=x');
  await page.evaluate(() => localStorage.setItem('k', 'v'));
  const other = await browser.newContext({ baseURL, storageState: await context.storageState() });
  const second = await other.newPage();
  await second.goto('/cookie');
  await expect(second.locator('#cookies')).toHaveText('session=x');
  expect(await second.evaluate(() => localStorage.getItem('k'))).toBe('v');
  expect(await other.storageState()).toEqual(await context.storageState());
  await other.close();
});

test.describe('storageState as an option', () => {
  test.use({ storageState: { cookies: [{ name: 'opt', value: '1', domain: '127.0.0.1', path: '/', expires: -1, httpOnly: false, secure: false, sameSite: 'Lax' }], origins: [] } });

  test('is there from the start', async ({ page, request }) => {
    await page.goto('/cookie');
    await expect(page.locator('#cookies')).toHaveText('opt=1');
    expect(await (await request.get('/cookie')).text()).toContain('opt=1');
  });
});

test('storageState with IndexedDB', async ({ browser, context, page, baseURL }) => {
  await page.goto('/empty');
  await page.evaluate(() => new Promise<void>((done, failed) => {
    const open = indexedDB.open('db', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('store', { keyPath: 'id' });
    open.onsuccess = () => { const t = open.result.transaction('store', 'readwrite'); t.objectStore('store').put({ id: 1, name: 'Ada' }); t.oncomplete = () => { open.result.close(); done(); }; };
    open.onerror = () => failed(open.error);
  }));
  const state = await context.storageState({ indexedDB: true });
  const other = await browser.newContext({ baseURL, storageState: state });
  const second = await other.newPage();
  await second.goto('/empty');
  const name = await second.evaluate(() => new Promise(done => {
    const open = indexedDB.open('db', 1);
    open.onsuccess = () => { const get = open.result.transaction('store').objectStore('store').get(1); get.onsuccess = () => done(get.result?.name); };
  }));
  expect(name).toBe('Ada');
  await other.close();
});

test('sessionStorage is put back by an init script', async ({ browser, page, baseURL }) => {
  await page.goto('/empty');
  await page.evaluate(() => sessionStorage.setItem('s', '1'));
  const saved = await page.evaluate(() => JSON.stringify(sessionStorage));
  const other = await browser.newContext({ baseURL });
  await other.addInitScript(storage => { for (const [k, v] of Object.entries(JSON.parse(storage))) sessionStorage.setItem(k, v as string); }, saved);
  const second = await other.newPage();
  await second.goto('/empty');
  expect(await second.evaluate(() => sessionStorage.getItem('s'))).toBe('1');
  await other.close();
});
