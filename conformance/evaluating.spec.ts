// https://playwright.dev/docs/evaluating
import { test, expect } from '@playwright/test';

test.describe('values', () => {
  test('there and back', async ({ page }) => {
    const values = [1, -1.5, 'text', true, null, [1, [2]], { a: { b: 'c' } }, '世界 😀', '\u2028'];
    expect(await page.evaluate(v => v, values)).toEqual(values);
  });

  test('numbers that JSON does not know', async ({ page }) => {
    expect(await page.evaluate(() => [NaN, Infinity, -Infinity, -0])).toEqual([NaN, Infinity, -Infinity, -0]);
    expect(await page.evaluate(v => Object.is(v, -0), -0)).toBe(true);
    expect(await page.evaluate(v => Number.isNaN(v), NaN)).toBe(true);
  });

  test('undefined, in and out, and in objects', async ({ page }) => {
    expect(await page.evaluate(() => undefined)).toBe(undefined);
    expect(await page.evaluate(v => v === undefined, undefined)).toBe(true);
    expect(await page.evaluate(() => ({ a: undefined }))).toEqual({ a: undefined });
    expect('a' in (await page.evaluate(() => ({ a: undefined })))).toBe(true);
  });

  test('dates, regular expressions, URLs, bigint, errors', async ({ page }) => {
    const date = new Date(1234567890123);
    expect(await page.evaluate(d => d, date)).toEqual(date);
    expect((await page.evaluate(() => new Date(5))).getTime()).toBe(5);
    expect(await page.evaluate(() => /a+b/gi)).toEqual(/a+b/gi);
    expect(await page.evaluate(r => 'xay'.replace(r, '-'), /a/)).toBe('x-y');
    expect(await page.evaluate(() => 12345678901234567890n)).toBe(12345678901234567890n);
    expect(await page.evaluate(u => u instanceof URL && u.pathname, new URL('http://a.test/b'))).toBe('/b');
    const error = await page.evaluate(() => new TypeError('no'));
    expect([error.name, error.message]).toEqual(['TypeError', 'no']);
    expect(await page.evaluate(e => e instanceof Error && e.message, new Error('in'))).toBe('in');
  });

  test('typed arrays', async ({ page }) => {
    const back = await page.evaluate(() => new Uint8Array([1, 2, 255]));
    expect(Array.from(back)).toEqual([1, 2, 255]);
    expect(await page.evaluate(a => a instanceof Float64Array && a[1], new Float64Array([1, 2.5]))).toBe(2.5);
  });

  test('cycles and shared objects', async ({ page }) => {
    const back = await page.evaluate(() => { const a: any = { n: 1 }; a.self = a; return a; });
    expect(back.self).toBe(back);
    const twice = await page.evaluate(v => v[0] === v[1], (() => { const o = {}; return [o, o]; })());
    expect(twice).toBe(true);
  });

  test('maps, sets and functions come as they can', async ({ page }) => {
    expect(await page.evaluate(() => ({ f() {}, n: 1 }))).toEqual({ n: 1 });
    expect(await page.evaluate(() => Symbol('x'))).toBe(undefined);
  });

  test('elements and windows come as names', async ({ page }) => {
    expect(await page.evaluate(() => document)).toBe('ref: <Document>');
    expect(await page.evaluate(() => document.body)).toBe('ref: <Node>');
    expect(await page.evaluate(() => window)).toBe('ref: <Window>');
  });

  test('promises are awaited', async ({ page }) => {
    expect(await page.evaluate(() => new Promise(f => setTimeout(() => f('later'), 20)))).toBe('later');
    expect(await page.evaluate(async v => v * 2, 21)).toBe(42);
    expect(await page.evaluate('Promise.resolve(5)')).toBe(5);
  });

  test('several arguments in one', async ({ page }) => {
    expect(await page.evaluate(([a, b]) => a + b, [1, 2])).toBe(3);
    expect(await page.evaluate(({ x, y: { z } }) => x + z, { x: 1, y: { z: 2 } })).toBe(3);
    await expect((page.evaluate as any)(() => 1, 1, 2)).rejects.toThrow('Too many arguments. If you need to pass more than 1 argument to the function wrap them in an object.');
  });
});

test.describe('expressions and functions', () => {
  test('strings are expressions', async ({ page }) => {
    expect(await page.evaluate('1 + 2')).toBe(3);
    expect(await page.evaluate('({ a: 1 })')).toEqual({ a: 1 });
    expect(await page.evaluate('const x = 5; x * 2')).toBe(10);
    expect(await page.evaluate('(() => 7)()')).toBe(7);
    expect(await page.evaluate('() => 7')).toBe(undefined);
  });

  test('all kinds of functions', async ({ page }) => {
    const object = { method(v: number) { return v + 1; }, async later(v: number) { return v + 2; } };
    expect(await page.evaluate(function (v) { return v; }, 1)).toBe(1);
    expect(await page.evaluate(object.method, 1)).toBe(2);
    expect(await page.evaluate(object.later, 1)).toBe(3);
    expect(await page.evaluate(async () => { const r = await Promise.resolve(4); return r; })).toBe(4);
  });

  test('modern syntax survives', async ({ page }) => {
    expect(await page.evaluate(() => { const o: any = { a: null }; return [o.a?.b, o.a ?? 'd', [...[1, 2]], { ...{ z: 1 } }, `t${1}`, 2 ** 3]; })).toEqual([undefined, 'd', [1, 2], { z: 1 }, 't1', 8]);
    expect(await page.evaluate(() => { class A { #x = 1; get x() { return this.#x; } static y = 2; } return new A().x + A.y; })).toBe(3);
    expect(await page.evaluate(async () => { const out: number[] = []; for await (const v of (async function* () { yield 1; yield 2; })()) out.push(v); return out; })).toEqual([1, 2]);
  });

  test('asynchronous iteration in functions of all shapes', async ({ page }) => {
    const object = {
      async method(n: number) { const out: number[] = []; for await (const v of [Promise.resolve(n), n + 1]) out.push(v); return out; },
      async *values() { yield 1; },
    };
    expect(await page.evaluate(object.method, 4)).toEqual([4, 5]);
    expect(await page.evaluate(async function () { async function* count() { try { yield 1; yield* [2, 3]; } finally { (window as any).generatorLeft = true; } } for await (const v of count()) if (v === 2) return v; })).toBe(2);
    expect(await page.evaluate('generatorLeft')).toBe(true);
    const iterator = await page.evaluateHandle(object.values);
    expect(await iterator.evaluate(i => i.next())).toEqual({ value: 1, done: false });
    await page.addInitScript(async () => { (window as any).seen = []; for await (const v of [Promise.resolve('early')]) (window as any).seen.push(v); });
    await page.goto('/one');
    expect(await page.evaluate(async () => { for await (const v of (window as any).seen) if (v === 'early') return true; return false; })).toBe(true);
  });

  test('types are stripped', async ({ page }) => {
    type Point = { x: number };
    expect(await page.evaluate((p: Point): number => (p as Point).x!, { x: 4 } satisfies Point)).toBe(4);
  });

  test('evaluate sees the page and changes it', async ({ page }) => {
    await page.setContent('<p>x</p>');
    await page.evaluate(text => { document.querySelector('p')!.textContent = text; }, 'changed');
    await expect(page.locator('p')).toHaveText('changed');
  });

  test('what is thrown comes with its message', async ({ page }) => {
    await expect(page.evaluate(() => { throw new Error('broken here'); })).rejects.toThrow('page.evaluate: Error: broken here');
    await expect(page.evaluate(() => { throw 'just text'; })).rejects.toThrow('just text');
    await expect(page.evaluate(() => (undefined as any).x)).rejects.toThrow(/Cannot read propert/);
    await expect(page.evaluate('nobody.home')).rejects.toThrow('nobody is not defined');
    await expect(page.evaluate(() => Promise.reject(new Error('async')))).rejects.toThrow('async');
  });

  test('syntax errors', async ({ page }) => {
    await expect(page.evaluate('((')).rejects.toThrow(/SyntaxError/);
  });

  test('a function of this side cannot be used over there', async ({ page }) => {
    const here = 5;
    await expect(page.evaluate(() => here)).rejects.toThrow('here is not defined');
  });

  test('evaluating while navigating is told', async ({ page }) => {
    await page.goto('/one');
    await expect(page.evaluate(() => { location.href = '/two'; return new Promise(() => {}); })).rejects.toThrow('Execution context was destroyed, most likely because of a navigation');
  });

  test('evaluate awaits a new document', async ({ page }) => {
    await page.goto('/one');
    await page.getByRole('link').click();
    await page.waitForURL('**/two');
    expect(await page.evaluate(() => document.title)).toBe('Two');
  });

  test('page and utility world are apart: the page cannot fake the DOM for locators', async ({ page }) => {
    await page.setContent('<p>true text</p>');
    await page.evaluate(() => { Object.defineProperty(Node.prototype, 'textContent', { get: () => 'fake' }); document.querySelectorAll = () => [] as any; });
    expect(await page.locator('p').textContent()).toBe('true text');
    expect(await page.evaluate(() => document.querySelector('p')!.textContent)).toBe('fake');
  });
});

test.describe('init scripts and bindings', () => {
  test('addInitScript runs before the page', async ({ page }) => {
    await page.addInitScript(value => { (window as any).injected = value; }, { n: 3 });
    await page.addInitScript('window.second = 1');
    await page.addInitScript({ content: 'window.third = 1' });
    await page.route('**/page', route => route.fulfill({ contentType: 'text/html', body: '<script>window.seen = window.injected.n + window.second + window.third</script>' }));
    await page.goto('/page');
    expect(await page.evaluate('window.seen')).toBe(5);
    await page.reload();
    expect(await page.evaluate('window.seen')).toBe(5);
  });

  test('addInitScript runs in frames', async ({ page }) => {
    await page.addInitScript(() => { (window as any).injected = location.pathname; });
    await page.goto('/framed');
    expect(await page.frame('inner')!.evaluate('window.injected')).toBe('/inner');
  });

  test('exposeFunction', async ({ page }) => {
    await page.exposeFunction('add', (a: number, b: number) => a + b);
    expect(await page.evaluate(() => (window as any).add(2, 3))).toBe(5);
    await page.goto('/one');
    expect(await page.evaluate(async () => (await (window as any).add(4, 5)) + 1)).toBe(10);
  });

  test('exposeFunction with promises and errors', async ({ page }) => {
    await page.exposeFunction('later', async (v: unknown) => { await new Promise(f => setTimeout(f, 10)); return { v }; });
    await page.exposeFunction('fail', () => { throw new Error('from here'); });
    expect(await page.evaluate(() => (window as any).later([1]))).toEqual({ v: [1] });
    expect(await page.evaluate(() => (window as any).fail().catch((e: Error) => e.message))).toBe('from here');
  });

  test('exposeBinding tells who calls', async ({ page, context }) => {
    await page.exposeBinding('who', source => [source.page === page, source.context === context, source.frame.name()]);
    await page.goto('/framed');
    expect(await page.frame('inner')!.evaluate(() => (window as any).who())).toEqual([true, true, 'inner']);
  });

  test('bindings of the context reach all its pages', async ({ context, page }) => {
    await context.exposeFunction('twice', (s: string) => s + s);
    const second = await context.newPage();
    expect(await page.evaluate(() => (window as any).twice('a'))).toBe('aa');
    expect(await second.evaluate(() => (window as any).twice('b'))).toBe('bb');
  });

  test('the same name twice is refused', async ({ page, context }) => {
    await page.exposeFunction('once', () => 1);
    await expect(page.exposeFunction('once', () => 2)).rejects.toThrow('Function "once" has been already registered');
    await expect(context.exposeFunction('once', () => 2)).rejects.toThrow('Function "once" has been already registered in one of the pages');
  });
});
