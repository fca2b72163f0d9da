// https://playwright.dev/docs/events, /docs/api/class-consolemessage, /docs/api/class-worker
import { test, expect, type ConsoleMessage } from '@playwright/test';

test.describe('console', () => {
  test('text and type', async ({ page }) => {
    const log: string[] = [];
    page.on('console', m => log.push(m.type() + ': ' + m.text()));
    await page.evaluate(() => { console.log('a', 1, true); console.info('i'); console.warn('w'); console.error('e'); console.debug('d'); console.assert(false, 'no'); });
    await expect.poll(() => log).toEqual(['log: a 1 true', 'info: i', 'warning: w', 'error: e', 'debug: d', 'assert: no']);
  });

  test('objects are previewed', async ({ page }) => {
    const [message] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => console.log({ a: 1, b: 'x' }, [1, 2], null, undefined))]);
    expect(message.text()).toBe('{a: 1, b: x} [1, 2] null undefined');
  });

  test('arguments are handles', async ({ page }) => {
    const [message] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => console.log('hello', 5, { foo: 'bar' }))]);
    const values = [];
    for (const arg of message.args()) values.push(await arg.jsonValue());
    expect(values).toEqual(['hello', 5, { foo: 'bar' }]);
  });

  test('location and page', async ({ page, baseURL }) => {
    await page.route('**/page', r => r.fulfill({ contentType: 'text/html', body: '<script>\nconsole.log("there")</script>' }));
    const [message] = await Promise.all([page.waitForEvent('console'), page.goto('/page')]);
    expect(message.location()).toMatchObject({ url: baseURL + '/page', lineNumber: 1, columnNumber: 8 });
    expect(message.page()).toBe(page);
  });

  test('waitForEvent with a predicate', async ({ page }) => {
    const [message] = await Promise.all([page.waitForEvent('console', m => m.text() === 'second'), page.evaluate(() => { console.log('first'); console.log('second'); })]);
    expect(message.text()).toBe('second');
  });

  test('the context hears all pages', async ({ context, page }) => {
    const heard: [string, boolean][] = [];
    const second = await context.newPage();
    context.on('console', m => heard.push([m.text(), m.page() === second]));
    await page.evaluate(() => console.log('one'));
    await second.evaluate(() => console.log('two'));
    await expect.poll(() => heard).toEqual([['one', false], ['two', true]]);
  });

  test('failed loads are errors', async ({ page, baseURL }) => {
    await page.goto('/empty');
    const [message] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => fetch('/status/404'))]);
    expect([message.type(), message.text(), message.location().url]).toEqual(['error', 'Failed to load resource: the server responded with a status of 404 (Not Found)', baseURL + '/status/404']);
  });

  test('messages of frames', async ({ page }) => {
    await page.goto('/framed');
    const [message] = await Promise.all([page.waitForEvent('console'), page.frame('inner')!.evaluate(() => console.log('from inside'))]);
    expect(message.text()).toBe('from inside');
  });
});

test.describe('errors of pages', () => {
  test('pageerror of throw', async ({ page }) => {
    const [error] = await Promise.all([page.waitForEvent('pageerror'), page.evaluate(() => { setTimeout(() => { throw new TypeError('loose'); }); })]);
    expect([error.name, error.message]).toEqual(['TypeError', 'loose']);
    expect(error.stack).toContain('loose');
  });

  test('pageerror of a rejected promise', async ({ page }) => {
    const [error] = await Promise.all([page.waitForEvent('pageerror'), page.evaluate(() => { void Promise.reject(new Error('unhandled')); })]);
    expect(error.message).toBe('unhandled');
  });

  test('pageerror of something that is no error', async ({ page }) => {
    const [error] = await Promise.all([page.waitForEvent('pageerror'), page.evaluate(() => { setTimeout(() => { throw 'text'; }); })]);
    expect(error.message).toBe('text');
  });

  test('weberror of the context', async ({ context, page }) => {
    const [error] = await Promise.all([context.waitForEvent('weberror'), page.evaluate(() => { setTimeout(() => { throw new Error('far'); }); })]);
    expect(error.page()).toBe(page);
    expect(error.error().message).toBe('far');
  });
});

test.describe('listening', () => {
  test('on, once, off, several', async ({ page }) => {
    const log: string[] = [];
    const always = (m: ConsoleMessage) => log.push('always ' + m.text());
    page.on('console', always);
    page.once('console', m => log.push('once ' + m.text()));
    await page.evaluate(() => console.log('1'));
    await page.evaluate(() => console.log('2'));
    await expect.poll(() => log).toEqual(['always 1', 'once 1', 'always 2']);
    page.off('console', always);
    await page.evaluate(() => console.log('3'));
    expect(log).toHaveLength(3);
  });

  test('addListener, removeListener, prependListener, removeAllListeners', async ({ page }) => {
    const log: string[] = [];
    const a = () => log.push('a'), b = () => log.push('b');
    page.addListener('console', a);
    page.prependListener('console', b);
    await page.evaluate(() => console.log('1'));
    await expect.poll(() => log).toEqual(['b', 'a']);
    page.removeListener('console', b);
    await page.evaluate(() => console.log('2'));
    await expect.poll(() => log).toEqual(['b', 'a', 'a']);
    await page.removeAllListeners('console');
    await page.evaluate(() => console.log('3'));
    expect(log).toHaveLength(3);
  });

  test('waitForEvent times out', async ({ page }) => {
    await expect(page.waitForEvent('popup', { timeout: 100 })).rejects.toThrow('page.waitForEvent: Timeout 100ms exceeded while waiting for event "popup"');
  });

  test('load and domcontentloaded', async ({ page }) => {
    const log: string[] = [];
    page.on('domcontentloaded', p => log.push('dom ' + (p === page)));
    page.on('load', p => log.push('load ' + (p === page)));
    await page.goto('/one');
    expect(log).toEqual(['dom true', 'load true']);
  });

  test('close', async ({ context }) => {
    const page = await context.newPage();
    const closed = page.waitForEvent('close');
    await page.close();
    expect(await closed).toBe(page);
  });

  test('framenavigated for main frame and history', async ({ page }) => {
    const log: string[] = [];
    page.on('framenavigated', f => log.push(new URL(f.url()).pathname + new URL(f.url()).hash));
    await page.goto('/one');
    await page.evaluate(() => { location.hash = 'x'; });
    await expect.poll(() => log).toEqual(['/one', '/one#x']);
  });
});

test.describe('workers', () => {
  test('come, evaluate and go', async ({ page, baseURL }) => {
    await page.goto('/empty');
    const [worker] = await Promise.all([page.waitForEvent('worker'), page.evaluate(() => { (window as any).w = new Worker('/worker.js'); })]);
    expect(worker.url()).toBe(baseURL + '/worker.js');
    await expect.poll(() => worker.evaluate(() => (self as any).greeting)).toBe('hello from worker');
    expect(await worker.evaluate(n => n + 1, 1)).toBe(2);
    expect(await (await worker.evaluateHandle(() => ({ a: 1 }))).jsonValue()).toEqual({ a: 1 });
    expect(page.workers()).toEqual([worker]);
    const closed = worker.waitForEvent('close');
    await page.evaluate('window.w.terminate()');
    await closed;
    expect(page.workers()).toEqual([]);
  });

  test('their console reaches the page', async ({ page }) => {
    await page.goto('/empty');
    const [message] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => { new Worker('/worker.js'); })]);
    expect(message.text()).toBe('worker started');
  });

  test('they end with a navigation', async ({ page }) => {
    await page.goto('/empty');
    const [worker] = await Promise.all([page.waitForEvent('worker'), page.evaluate(() => { new Worker('/worker.js'); })]);
    const closed = new Promise(f => worker.on('close', f));
    await page.goto('/one');
    await closed;
    expect(page.workers()).toEqual([]);
  });

  test('errors inside are told', async ({ page }) => {
    await page.goto('/empty');
    const [worker] = await Promise.all([page.waitForEvent('worker'), page.evaluate(() => { (window as any).w = new Worker('/worker.js'); })]);
    await expect(worker.evaluate(() => { throw new Error('in the worker'); })).rejects.toThrow('in the worker');
  });
});

test.describe('CDP', () => {
  test('newCDPSession sends commands and hears events', async ({ context, page }) => {
    const session = await context.newCDPSession(page);
    const { result } = await session.send('Runtime.evaluate', { expression: '1 + 2' });
    expect(result.value).toBe(3);
    await session.send('Page.enable');
    const navigated = new Promise(f => session.once('Page.frameNavigated', f));
    await page.goto('/one');
    await navigated;
    await session.detach();
    await expect(session.send('Runtime.evaluate', { expression: '1' })).rejects.toThrow(/closed|detached/i);
  });
});
