// https://playwright.dev/docs/service-workers, /docs/api/class-browsercontext#browser-context-event-service-worker
import { test, expect, type Page, type Request, type Worker } from '@playwright/test';

const path = (r: { url(): string }) => new URL(r.url()).pathname;

/** Opens a page and waits until its service worker controls it. */
async function controlled(page: Page): Promise<Worker> {
  const [worker] = await Promise.all([page.context().waitForEvent('serviceworker'), page.goto('/service')]);
  await page.evaluate('controlled');
  return worker;
}

test('a service worker is told of, listed and evaluated in', async ({ context, page }) => {
  const worker = await controlled(page);
  expect(path(worker)).toBe('/service.js');
  expect(context.serviceWorkers()).toEqual([worker]);
  expect(await worker.evaluate('greeting')).toBe('hello from service worker');
  const scope = await worker.evaluateHandle(() => (self as any).registration.scope);
  expect(path({ url: () => String(scope) })).toBe('/');
});

test('what it asks for is told of by the context, as its own', async ({ context, page }) => {
  const worker = await controlled(page);
  const requests: Request[] = [];
  const ofPage: string[] = [];
  context.on('request', r => requests.push(r));
  page.on('request', r => ofPage.push(path(r)));
  const through = context.waitForEvent('requestfinished', r => !!r.serviceWorker());
  await page.evaluate(() => fetch('/through-worker').then(r => r.text()));
  const own = await through;
  expect(own.serviceWorker()).toBe(worker);
  expect(new URL(own.url()).search).toBe('?through');
  expect(() => own.frame()).toThrow('Service Worker requests do not have an associated frame.');
  expect((await own.response())!.status()).toBe(200);
  expect(requests.find(r => path(r) === '/through-worker')!.serviceWorker()).toBe(null);
  expect(ofPage).toEqual(['/through-worker']);
});

test('the main script of it is one of its requests', async ({ context, page }) => {
  const [request] = await Promise.all([context.waitForEvent('request', r => path(r) === '/service.js'), page.goto('/service')]);
  expect(path(request.serviceWorker()!)).toBe('/service.js');
});

test('an answer says that it came from one', async ({ page }) => {
  await controlled(page);
  const [response] = await Promise.all([page.waitForResponse('**/from-worker'), page.evaluate(() => fetch('/from-worker'))]);
  expect(response.fromServiceWorker()).toBe(true);
});

test('routes of the context see its requests', async ({ context, page }) => {
  await context.route('**/data.json*', route => route.fulfill({ body: 'routed ' + !!route.request().serviceWorker() }));
  await controlled(page);
  expect(await page.evaluate(() => fetch('/through-worker').then(r => r.text()))).toBe('routed true');
  expect(await page.evaluate(() => fetch('/data.json').then(r => r.text()))).toBe('routed false');
});

test('its console is the context\'s', async ({ context, page }) => {
  const [message, worker] = await Promise.all([context.waitForEvent('console', m => m.text() === 'installed'), controlled(page)]);
  expect(message.page()).toBe(null);
  expect(message.worker()).toBe(worker);
});

test('it closes with its context', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ baseURL });
  const worker = await controlled(await context.newPage());
  const closed = new Promise(done => worker.on('close', done));
  await context.close();
  expect(await closed).toBe(worker);
  await expect(worker.evaluate('1')).rejects.toThrow('Target page, context or browser has been closed');
});

test('blocked ones do not register', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ baseURL, serviceWorkers: 'block' });
  const page = await context.newPage();
  const [message] = await Promise.all([page.waitForEvent('console'), page.goto('/service')]);
  expect([message.type(), message.text()]).toEqual(['warning', 'Service Worker registration blocked by Playwright']);
  expect(await page.evaluate('registered')).toBe(undefined);
  expect(context.serviceWorkers()).toEqual([]);
  await context.close();
});
