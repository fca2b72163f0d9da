// https://playwright.dev/docs/test-annotations, /docs/test-fixtures, /docs/test-parameterize, /docs/api/class-test
import { test as base, test, expect } from '@playwright/test';

const order: string[] = [];

test.describe('hooks', () => {
  test.beforeAll(() => { order.push('beforeAll'); });
  test.afterAll(() => { order.push('afterAll'); });
  test.beforeEach(async ({ page }) => { order.push('beforeEach ' + page.url()); });
  test.afterEach(({}, testInfo) => { order.push('afterEach ' + testInfo.title + ' ' + testInfo.status); });

  test('first', async () => { order.push('first'); });

  test.describe('nested', () => {
    test.beforeEach(() => { order.push('inner'); });
    test('second', async () => { order.push('second'); });
  });
});

test('hooks ran around the tests, in order', async () => {
  expect(order).toEqual(['beforeAll', 'beforeEach about:blank', 'first', 'afterEach first passed', 'beforeEach about:blank', 'inner', 'second', 'afterEach second passed', 'afterAll']);
});

test.describe('each test has its own page and context', () => {
  const seen: unknown[] = [];
  test('one', async ({ page, context }) => {
    await page.goto('/cookie?name=left&value=1');
    seen.push(page, context);
  });
  test('two', async ({ page, context }) => {
    expect(seen).not.toContain(page);
    expect(seen).not.toContain(context);
    expect(await context.cookies()).toEqual([]);
    expect(context.pages()).toEqual([page]);
  });
});

test.describe('annotations', () => {
  test.skip('skipped by test.skip', async () => { throw new Error('must not run'); });
  test.fixme('skipped by test.fixme', async () => { throw new Error('must not run'); });
  test.fail('fails, as expected', async () => { expect(1).toBe(2); });

  test('skipped inside', async ({ browserName }) => {
    test.skip(browserName === 'chromium', 'not on Chromium');
    throw new Error('must not run');
  });

  test('not skipped inside', async ({ browserName }) => {
    test.skip(browserName === 'firefox', 'only there');
    expect(test.info().annotations.filter(a => a.type === 'skip')).toEqual([]);
  });

  test('expected to fail inside', async () => {
    test.fail(true, 'known');
    throw new Error('known');
  });

  test('slow triples the time', async () => {
    const before = test.info().timeout;
    test.slow();
    expect(test.info().timeout).toBe(before * 3);
  });

  test('setTimeout', async () => {
    test.setTimeout(12_345);
    expect(test.info().timeout).toBe(12_345);
  });

  test('tags and annotations', { tag: ['@fast', '@smoke'], annotation: { type: 'issue', description: 'about it' } }, async () => {
    expect(test.info().tags).toEqual(['@fast', '@smoke']);
    expect(test.info().annotations).toMatchObject([{ type: 'issue', description: 'about it' }]);
    test.info().annotations.push({ type: 'added' });
    expect(test.info().annotations).toHaveLength(2);
  });

  test.describe(() => {
    test.skip(({ browserName }) => browserName === 'chromium', 'whole group');
    test('of a group that is skipped', async () => { throw new Error('must not run'); });
  });

  test.describe.skip('skipped group', () => {
    test('inside', async () => { throw new Error('must not run'); });
  });
});

test.describe('test.info', () => {
  test('knows the test', async ({}, testInfo) => {
    expect(testInfo).toBe(test.info());
    expect(testInfo.title).toBe('knows the test');
    expect(testInfo.titlePath.slice(-2)).toEqual(['test.info', 'knows the test']);
    expect(testInfo.retry).toBe(0);
    expect(testInfo.repeatEachIndex).toBe(0);
    expect(testInfo.expectedStatus).toBe('passed');
    expect(testInfo.errors).toEqual([]);
    expect(testInfo.file).toMatch(/runner\.spec\.ts$/);
    expect(testInfo.line).toBeGreaterThan(80);
    expect(typeof testInfo.testId).toBe('string');
    expect(testInfo.project.name).toBeDefined();
  });

  test('attach', async ({}, testInfo) => {
    await testInfo.attach('note', { body: 'text', contentType: 'text/plain' });
    await testInfo.attach('bytes', { body: Buffer.from([1, 2]) });
    expect(testInfo.attachments.map(a => [a.name, a.contentType])).toEqual([['note', 'text/plain'], ['bytes', 'application/octet-stream']]);
  });
});

test.describe('steps', () => {
  test('give what they return', async () => {
    expect(await test.step('outer', async () => {
      const inner = await test.step('inner', () => 20);
      return inner + 1;
    })).toBe(21);
  });

  test('pass errors on', async () => {
    await expect(test.step('fails', async () => { throw new Error('inside'); })).rejects.toThrow('inside');
  });

  test('skip', async () => {
    await test.step.skip('left out', async () => { throw new Error('must not run'); });
  });

  test('timeout', async () => {
    await expect(test.step('long', () => new Promise(() => {}), { timeout: 80 })).rejects.toThrow(/80ms/);
  });
});

test.describe('parameters', () => {
  for (const [a, b, sum] of [[1, 2, 3], [2, 2, 4]]) test(`${a} + ${b} = ${sum}`, async () => { expect(a + b).toBe(sum); });
});

test.describe('test.use', () => {
  test.use({ locale: 'fr-FR', viewport: { width: 700, height: 500 } });

  test('sets options of the group', async ({ page, locale, viewport }) => {
    expect([locale, viewport]).toEqual(['fr-FR', { width: 700, height: 500 }]);
    expect(await page.evaluate('navigator.language')).toBe('fr-FR');
  });

  test.describe(() => {
    test.use({ locale: 'es-ES' });
    test('inner groups win, the rest stays', async ({ page }) => {
      expect(await page.evaluate('[navigator.language, innerWidth]')).toEqual(['es-ES', 700]);
    });
  });

  test.describe(() => {
    test.use({ locale: async ({}, use) => use('it-IT') });
    test('an option as a function', async ({ locale }) => { expect(locale).toBe('it-IT'); });
  });
});

test('options of a group do not leak', async ({ page, locale }) => {
  expect([locale, page.viewportSize()]).toEqual(['en-US', { width: 1280, height: 720 }]);
});

const log: string[] = [];

class TodoPage {
  constructor(readonly page: import('@playwright/test').Page) {}
  async add(text: string) { await this.page.evaluate(t => document.body.append(t), text); }
}

const extended = base.extend<{ todo: TodoPage; word: string; auto: void }, { shared: string[] }>({
  word: ['default', { option: true }],
  todo: async ({ page, word }, use) => {
    log.push('set up');
    const todo = new TodoPage(page);
    await todo.add(word);
    await use(todo);
    log.push('torn down');
  },
  auto: [async ({}, use) => { log.push('auto'); await use(); }, { auto: true }],
  shared: [async ({}, use) => { log.push('worker'); await use([]); }, { scope: 'worker' }],
});

extended.describe('fixtures', () => {
  extended('are set up for who asks', async ({ todo, page, shared }) => {
    await todo.add('!');
    await expect(page.locator('body')).toHaveText('default!');
    shared.push('x');
    expect(log.filter(l => l !== 'worker')).toEqual(['auto', 'set up']);
  });

  extended('are torn down afterwards; automatic ones come by themselves', async ({ shared }) => {
    expect(log.filter(l => l !== 'worker')).toEqual(['auto', 'set up', 'torn down', 'auto']);
    expect(shared).toEqual(['x']);
    expect(log.filter(l => l === 'worker')).toHaveLength(1);
  });

  extended.describe(() => {
    extended.use({ word: 'other' });
    extended('options can be set', async ({ todo, page, word }) => {
      expect(word).toBe('other');
      expect(todo.page).toBe(page);
      await expect(page.locator('body')).toHaveText('other');
    });
  });

  const overridden = extended.extend({ page: async ({ page }, use) => { await page.goto('/one'); await use(page); } });
  overridden('page can be overridden', async ({ page }) => { await expect(page).toHaveTitle('One'); });
});

test.describe('in series', () => {
  test.describe.configure({ mode: 'serial' });
  let from = 0;
  test('one after another', async () => { from = 1; });
  test('sees what the first left', async () => { expect(from).toBe(1); });
});

test('built-in fixtures', async ({ page, context, browser, browserName, request, playwright, baseURL }) => {
  expect(page.context()).toBe(context);
  expect(context.browser()).toBe(browser);
  expect(browserName).toBe('chromium');
  expect(typeof request.get).toBe('function');
  expect(playwright.chromium.name()).toBe('chromium');
  expect(baseURL).toMatch(/^http:/);
});

test('expect.soft collects', async () => {
  test.fail();
  expect.soft(1, 'first').toBe(2);
  expect.soft(1, 'second').toBe(3);
  expect(test.info().errors.map(e => e.message!.split('\n')[0])).toEqual([expect.stringContaining('first'), expect.stringContaining('second')]);
});

test.describe('options hold for all that tests and hooks make', () => {
  test.use({ userAgent: 'Mine/1', actionTimeout: 300 });
  let agent = '';

  test.beforeAll(async ({ browser }) => {
    const page = await browser.newPage();
    await page.goto('/one');
    agent = await page.evaluate('navigator.userAgent');
    await page.close();
  });

  test('contexts of pages', async ({ browser, baseURL }) => {
    expect(agent).toBe('Mine/1');
    const context = await browser.newContext({ userAgent: 'Other/2' });
    const page = await context.newPage();
    await page.goto('/one');
    expect(page.url()).toBe(`${baseURL}/one`);
    expect(await page.evaluate('navigator.userAgent')).toBe('Other/2');
    await expect(page.click('#never')).rejects.toThrow('page.click: Timeout 300ms exceeded.');
    await context.close();
  });

  test('contexts of requests', async ({ playwright }) => {
    const context = await playwright.request.newContext();
    expect((await context.get('/one')).status()).toBe(200);
    await context.dispose();
  });
});

test('options of other tests are over', async ({ browser }) => {
  const page = await browser.newPage();
  expect(await page.evaluate('navigator.userAgent')).not.toBe('Mine/1');
  await page.close();
});
