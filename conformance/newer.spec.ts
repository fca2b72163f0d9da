// Members that were added to the API recently: https://playwright.dev/docs/release-notes
import { test, expect } from '@playwright/test';

test('consoleMessages, pageErrors and requests keep what was', async ({ page }) => {
  await page.goto('/one');
  await page.evaluate(() => { console.log('kept'); setTimeout(() => { throw new Error('thrown'); }); });
  await expect.poll(async () => (await page.pageErrors()).map(e => e.message)).toEqual(['thrown']);
  expect((await page.consoleMessages()).map(m => m.text())).toEqual(['kept']);
  expect((await page.requests()).map(r => new URL(r.url()).pathname)).toEqual(['/one']);
  await page.clearConsoleMessages();
  await page.clearPageErrors();
  expect([await page.consoleMessages(), await page.pageErrors()]).toEqual([[], []]);
});

test('localStorage and sessionStorage of a page', async ({ page }) => {
  await page.goto('/empty');
  await page.localStorage.setItem('a', '1');
  await page.sessionStorage.setItem('b', '2');
  expect(await page.evaluate(() => [localStorage.getItem('a'), sessionStorage.getItem('b')])).toEqual(['1', '2']);
  expect(await page.localStorage.getItem('a')).toBe('1');
  expect(await page.localStorage.getItem('no')).toBe(null);
  expect(await page.localStorage.items()).toEqual([{ name: 'a', value: '1' }]);
  await page.localStorage.removeItem('a');
  await page.sessionStorage.clear();
  expect([await page.localStorage.items(), await page.sessionStorage.items()]).toEqual([[], []]);
});

test('an AbortSignal ends an action', async ({ page }) => {
  const controller = new AbortController();
  const clicking = page.locator('p').click({ signal: controller.signal }).catch((e: Error) => e);
  await page.title(); // requested after the click, so that its request is running
  controller.abort();
  const error = await clicking as Error;
  expect(error).toBeInstanceOf(Error);
  expect(error.message).toMatch(/abort/i);
});

test('an AbortSignal ends all that waits, and says why', async ({ page, request }) => {
  await page.goto('/one');
  const stopped = async (call: (options: { signal: AbortSignal }) => Promise<unknown>) => {
    const controller = new AbortController();
    const over = call({ signal: controller.signal }).catch((e: Error) => e);
    setTimeout(() => controller.abort(new TypeError('enough')), 50);
    const { name, message, cause } = await over as Error;
    expect(name).toBe('AbortError');
    expect(String(cause)).toBe('TypeError: enough');
    return message;
  };
  expect(await stopped(o => page.locator('b').click(o))).toMatch(/^locator.click: enough\nCall log:\n.*waiting for locator\('b'\).*\n.*operation was aborted: enough/);
  expect(await stopped(o => page.textContent('b', o))).toMatch(/^page.textContent: enough\n/);
  expect(await stopped(o => page.waitForSelector('b', o))).toMatch(/^page.waitForSelector: enough\n/);
  expect(await stopped(o => page.waitForFunction(() => false, null, o))).toMatch(/^page.waitForFunction: enough\n/);
  expect(await stopped(o => page.locator('b').waitFor(o))).toMatch(/^locator.waitFor: enough\n/);
  expect(await stopped(o => page.waitForURL('**/never', o))).toMatch(/^page.waitForURL: The operation was aborted\n=+ logs =+\nwaiting for navigation to /);
  expect(await stopped(o => page.waitForRequest('**/never', o))).toMatch(/^page.waitForRequest: The operation was aborted\n/);
  expect(await stopped(o => page.waitForEvent('popup', o))).toMatch(/^page.waitForEvent: The operation was aborted\n/);
  expect(await stopped(o => request.get('/slow?ms=3000', o))).toMatch(/^apiRequestContext.get: enough\n/);
  expect(await page.evaluate(() => 1 + 1)).toBe(2);
  expect(await stopped(o => page.goto('/slow?ms=3000', o))).toMatch(/^page.goto: enough\nCall log:\n.*navigating to /);
});

test('an AbortSignal that was used', async ({ page }) => {
  await page.setContent('<button onclick="this.textContent = 1">x</button>');
  await expect(page.locator('button').click({ signal: AbortSignal.abort('before') })).rejects.toThrow('locator.click: The operation was aborted');
  await expect(page.locator('button')).toHaveText('x');
  const controller = new AbortController();
  await page.locator('button').click({ signal: controller.signal });
  controller.abort();
  await expect(page.locator('button')).toHaveText('1');
});

test('locator.visible and locator.within', async ({ page }) => {
  await page.setContent('<div id="a"><p>in</p><p hidden>no</p></div><p>out</p>');
  expect(await page.locator('p').visible().allTextContents()).toEqual(['in', 'out']);
  expect(await page.locator('p').visible().within(page.locator('#a')).allTextContents()).toEqual(['in']);
});

test('locator.waitForFunction', async ({ page }) => {
  await page.setContent('<p>one</p>');
  await page.evaluate(() => setTimeout(() => { document.querySelector('p')!.textContent = 'two'; }, 80));
  await page.locator('p').waitForFunction(e => e.textContent === 'two');
  await expect(page.locator('p')).toHaveText('two');
});

test('locator.normalize', async ({ page }) => {
  await page.setContent('<button id="x">Save</button>');
  expect(String(await page.locator('#x').normalize())).toBe(`getByRole('button', { name: 'Save' })`);
});

test('locator.drop of files and data', async ({ page }) => {
  await page.setContent(`<div style="width:100px;height:100px" ondragover="event.preventDefault()" ondrop="event.preventDefault(); window.dropped = [event.dataTransfer.getData('text/plain'), event.dataTransfer.files[0]?.name]"></div>`);
  await page.locator('div').drop({ data: { 'text/plain': 'words' } });
  expect(await page.evaluate('window.dropped[0]')).toBe('words');
  await page.locator('div').drop({ files: { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('x') } });
  expect(await page.evaluate('window.dropped[1]')).toBe('a.txt');
});

test('ariaSnapshot for machines has references that can be used', async ({ page }) => {
  await page.setContent(`<button onclick="this.textContent = 'pressed'">Press</button>`);
  const snapshot = await page.ariaSnapshot({ mode: 'ai' });
  const ref = /\[ref=(\w+)\]/.exec(snapshot.split('\n').find(l => l.includes('Press'))!)![1];
  await page.getByRef(ref).click();
  await expect(page.getByRole('button')).toHaveText('pressed');
});

test('references of frames', async ({ page }) => {
  await page.goto('/framed');
  const snapshot = await page.ariaSnapshot({ mode: 'ai' });
  const ref = /button "Press" \[ref=(f\d+e\d+)\]/.exec(snapshot)![1];
  await page.getByRef(ref).click();
  await expect(page.frameLocator('iframe').locator('#text')).toHaveText('pressed');
  expect(String(await page.getByRef(ref).normalize())).toBe(`locator('iframe[name="inner"]').contentFrame().getByRole('button', { name: 'Press' })`);
});

test('boxes and depth of a snapshot', async ({ page }) => {
  await page.setContent('<div style="position:absolute;left:10px;top:20px;width:30px;height:40px" role="group" aria-label="g"><ul><li>a</li></ul></div>');
  expect(await page.locator('body').ariaSnapshot({ boxes: true })).toContain('group "g" [box=10,20,30,40]');
  expect(await page.locator('body').ariaSnapshot({ depth: 1 })).not.toContain('listitem');
});

test('locator.waitForFunction: timeout and errors', async ({ page }) => {
  await page.setContent('<p>a</p>');
  await expect(page.locator('p').waitForFunction(() => false, undefined, { timeout: 150 })).rejects.toThrow('locator.waitForFunction: Timeout 150ms exceeded.');
  await expect(page.locator('p').waitForFunction(() => { throw new Error('boom'); })).rejects.toThrow('boom');
});

test('normalize of nothing', async ({ page }) => {
  await page.setContent('<p></p>');
  await expect(page.locator('#none').normalize()).rejects.toThrow('No element matching #none');
});

test('ariaSnapshotJSON', async ({ page }) => {
  await page.setContent('<h1>Hi</h1>');
  expect(await page.locator('body').ariaSnapshotJSON()).toMatchObject([{ role: 'heading', name: 'Hi', level: 1 }]);
});

test('setStorageState of a context', async ({ context, page, baseURL }) => {
  await context.setStorageState({ cookies: [{ name: 's', value: '1', domain: '127.0.0.1', path: '/', expires: -1, httpOnly: false, secure: false, sameSite: 'Lax' }], origins: [{ origin: baseURL!, localStorage: [{ name: 'k', value: 'v' }] }] });
  await page.goto('/cookie');
  await expect(page.locator('#cookies')).toHaveText('s=1');
  expect(await page.evaluate(() => localStorage.getItem('k'))).toBe('v');
});

test('cookies of an APIRequestContext', async ({ request, baseURL }) => {
  await request.addCookies([{ name: 'a', value: '1', url: baseURL }]);
  expect((await request.cookies()).map(c => c.name)).toEqual(['a']);
  await request.clearCookies();
  expect(await request.cookies()).toEqual([]);
});

test('context.isClosed', async ({ browser }) => {
  const context = await browser.newContext();
  expect(context.isClosed()).toBe(false);
  await context.close();
  expect(context.isClosed()).toBe(true);
});

test('response.httpVersion and request.existingResponse', async ({ page }) => {
  const response = (await page.goto('/one'))!;
  expect(await response.httpVersion()).toBe('HTTP/1.1');
  expect(response.request().existingResponse()).toBe(response);
});

test('console messages have a time', async ({ page }) => {
  const before = Date.now();
  const [message] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => console.log('x'))]);
  expect(message.timestamp()).toBeGreaterThan(before - 2000);
});

test('exposed functions can be taken back', async ({ page }) => {
  const disposable = await page.exposeFunction('here', () => 1);
  expect(await page.evaluate(() => (window as any).here())).toBe(1);
  await disposable.dispose();
  await page.goto('/one');
  expect(await page.evaluate('typeof window.here')).toBe('undefined');
});

test('routes and init scripts can be taken back', async ({ page }) => {
  const script = await page.addInitScript('window.injected = 1');
  const route = await page.route('**/data.json', r => r.fulfill({ body: 'mocked' }));
  await page.goto('/one');
  expect(await page.evaluate(async () => [(window as any).injected, await (await fetch('/data.json')).text()])).toEqual([1, 'mocked']);
  await script.dispose();
  await route.dispose();
  await page.goto('/two');
  expect(await page.evaluate(async () => [(window as any).injected, (await (await fetch('/data.json')).json()).name])).toEqual([undefined, 'Ada']);
});

test('steps of a drag', async ({ page }) => {
  await page.setContent(`<style>div, p { position: absolute; margin: 0; top: 0; width: 50px; height: 50px } p { left: 300px }</style><div></div><p></p>
    <script>window.moves = 0; document.querySelector('div').onmousedown = () => addEventListener('mousemove', () => window.moves++)</script>`);
  await page.locator('div').dragTo(page.locator('p'), { steps: 5 });
  expect(await page.evaluate('window.moves')).toBeGreaterThanOrEqual(5);
});
