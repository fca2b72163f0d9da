// https://playwright.dev/docs/frames
import { test, expect } from '@playwright/test';

test('frames of a page by name, URL and position', async ({ page, baseURL }) => {
  await page.goto('/framed');
  const frame = page.frame('inner')!;
  expect(frame.url()).toBe(baseURL + '/inner');
  expect(page.frame({ url: /inner$/ })).toBe(frame);
  expect(page.frame({ url: '**/inner' })).toBe(frame);
  expect(page.frame('nobody')).toBe(null);
  expect(page.frames()).toEqual([page.mainFrame(), frame]);
  expect(frame.parentFrame()).toBe(page.mainFrame());
  expect(page.mainFrame().parentFrame()).toBe(null);
  expect(page.mainFrame().childFrames()).toEqual([frame]);
  expect(frame.name()).toBe('inner');
  expect(await frame.title()).toBe('Inner');
  expect(frame.page()).toBe(page);
});

test('frameLocator finds, clicks, fills', async ({ page }) => {
  await page.goto('/framed');
  const inner = page.frameLocator('iframe');
  await inner.getByRole('button', { name: 'Press' }).click();
  await expect(inner.locator('#text')).toHaveText('pressed');
  await inner.getByLabel('Field').fill('typed');
  await expect(inner.getByLabel('Field')).toHaveValue('typed');
});

test('frameLocator by any selector, first, last and nth', async ({ page }) => {
  await page.setContent('<iframe srcdoc="<p>a</p>"></iframe><iframe srcdoc="<p>b</p>" title="B"></iframe>');
  await expect(page.frameLocator('iframe').first().locator('p')).toHaveText('a');
  await expect(page.frameLocator('iframe').last().locator('p')).toHaveText('b');
  await expect(page.frameLocator('iframe').nth(1).getByText('b')).toBeVisible();
  await expect(page.getByTitle('B').contentFrame().locator('p')).toHaveText('b');
});

test('frameLocator is strict', async ({ page }) => {
  await page.setContent('<iframe srcdoc="<p>a</p>"></iframe><iframe srcdoc="<p>b</p>"></iframe>');
  await expect(page.frameLocator('iframe').locator('p').textContent({ timeout: 3000 })).rejects.toThrow(`strict mode violation: locator('iframe') resolved to 2 elements`);
});

test('frames in frames', async ({ page }) => {
  await page.goto('/nested');
  await expect(page.frameLocator('[name=outer]').frameLocator('iframe').locator('#text')).toHaveText('inside');
  expect(page.frames()).toHaveLength(3);
  expect(page.frame('inner')!.parentFrame()).toBe(page.frame('outer'));
});

test('frameLocator waits for a frame that comes later', async ({ page }) => {
  await page.setContent('<div></div>');
  await page.evaluate(() => setTimeout(() => { document.querySelector('div')!.innerHTML = '<iframe srcdoc="<button>late</button>"></iframe>'; }, 80));
  await page.frameLocator('iframe').getByRole('button').click();
});

test('entering something that is no frame', async ({ page }) => {
  await page.setContent('<div id="x"></div>');
  await expect(page.frameLocator('#x').locator('p').click({ timeout: 1000 })).rejects.toThrow('<iframe> was expected');
});

test('evaluate, $eval and setContent in a frame', async ({ page }) => {
  await page.goto('/framed');
  const frame = page.frame('inner')!;
  expect(await frame.evaluate(() => document.title)).toBe('Inner');
  expect(await frame.$eval('#text', e => e.textContent)).toBe('inside');
  await frame.setContent('<p>new</p>');
  expect(await frame.content()).toContain('<p>new</p>');
  expect(await page.title()).toBe('Framed');
});

test('a frame can navigate by itself', async ({ page, baseURL }) => {
  await page.goto('/framed');
  const frame = page.frame('inner')!;
  const response = await frame.goto('/one');
  expect(response!.url()).toBe(baseURL + '/one');
  expect(response!.frame()).toBe(frame);
  expect(frame.url()).toBe(baseURL + '/one');
  expect(page.url()).toBe(baseURL + '/framed');
  await frame.getByRole('link').click();
  await frame.waitForURL('**/two');
  await expect(frame.locator('h1')).toHaveText('Two');
});

test('events: attached, navigated, detached', async ({ page }) => {
  await page.goto('/empty');
  const log: string[] = [];
  page.on('frameattached', () => log.push('attached'));
  page.on('framenavigated', f => log.push('navigated ' + new URL(f.url()).pathname));
  page.on('framedetached', f => log.push('detached ' + f.isDetached()));
  await page.evaluate(() => { document.body.innerHTML = '<iframe src="/inner"></iframe>'; });
  await expect(page.frameLocator('iframe').locator('#text')).toHaveText('inside');
  await page.evaluate(() => document.querySelector('iframe')!.remove());
  await expect.poll(() => log).toEqual(['attached', 'navigated /inner', 'detached true']);
});

test('a detached frame refuses work', async ({ page }) => {
  await page.goto('/framed');
  const frame = page.frame('inner')!;
  await page.evaluate(() => document.querySelector('iframe')!.remove());
  await expect.poll(() => frame.isDetached()).toBe(true);
  await expect(frame.evaluate('1')).rejects.toThrow('Frame was detached');
  expect(page.frames()).toHaveLength(1);
});

test('waiting in a frame ends when it is detached', async ({ page }) => {
  await page.goto('/framed');
  const waiting = page.frame('inner')!.waitForSelector('#never').catch((e: Error) => e.message);
  await page.evaluate(() => document.querySelector('iframe')!.remove());
  expect(await waiting).toContain('Frame was detached');
});

test('frameElement and contentFrame lead to each other', async ({ page }) => {
  await page.goto('/framed');
  const frame = page.frame('inner')!;
  const element = await frame.frameElement();
  expect(await element.getAttribute('name')).toBe('inner');
  expect(await element.contentFrame()).toBe(frame);
  expect(await element.ownerFrame()).toBe(page.mainFrame());
  expect(await (await page.$('body'))!.contentFrame()).toBe(null);
});

test('click positions in scrolled and bordered frames', async ({ page }) => {
  await page.setContent(`<div style="height:1500px"></div><iframe style="border:20px solid;width:300px;height:200px" srcdoc="<div style='height:900px'></div><button onclick='document.title = event.clientX > 0'>in</button>"></iframe>`);
  await page.frameLocator('iframe').getByRole('button').click();
  expect(await page.frames()[1].title()).toBe('true');
});

test.describe('frames of another site', () => {
  test('find, click, fill and evaluate', async ({ page, baseURL }) => {
    const other = baseURL!.replace('127.0.0.1', 'localhost');
    await page.goto('/empty');
    await page.setContent(`<iframe name="other" src="${other}/inner"></iframe>`);
    const inner = page.frameLocator('[name=other]');
    await inner.getByRole('button').click();
    await expect(inner.locator('#text')).toHaveText('pressed');
    await inner.getByLabel('Field').fill('across');
    await expect(inner.getByLabel('Field')).toHaveValue('across');
    expect(await page.frame('other')!.evaluate(() => location.hostname)).toBe('localhost');
    expect(page.frame('other')!.url()).toBe(other + '/inner');
  });

  test('a frame that moves to another site keeps its identity', async ({ page, baseURL }) => {
    const other = baseURL!.replace('127.0.0.1', 'localhost');
    await page.goto('/framed');
    const frame = page.frame('inner')!;
    await frame.goto(other + '/one');
    expect(page.frame('inner')).toBe(frame);
    expect(await frame.title()).toBe('One');
    expect(frame.url()).toBe(other + '/one');
    expect(frame.name()).toBe('inner');
    expect(page.frames()).toEqual([page.mainFrame(), frame]);
  });

  test('messages pass between them', async ({ page, baseURL }) => {
    const other = baseURL!.replace('127.0.0.1', 'localhost');
    await page.goto('/empty');
    await page.setContent(`<iframe name="other" src="${other}/cross"></iframe>`);
    await page.evaluate(() => (document.querySelector('iframe')!.contentWindow!).postMessage('hi there', '*'));
    await expect(page.frameLocator('iframe').locator('body')).toHaveText('hi there');
  });

  test('boundingBox is in the page', async ({ page, baseURL }) => {
    const other = baseURL!.replace('127.0.0.1', 'localhost');
    await page.goto('/empty');
    await page.setContent(`<body style="margin:0"><iframe style="position:absolute;left:50px;top:60px;border:0" src="${other}/empty"></iframe>`);
    const frame = page.frames()[1];
    await frame.waitForLoadState();
    await frame.evaluate(() => { document.body.innerHTML = '<div style="position:absolute;left:7px;top:8px;width:10px;height:10px"></div>'; });
    expect(await frame.locator('div').boundingBox()).toEqual({ x: 57, y: 68, width: 10, height: 10 });
  });

  test('keyboard goes to the focused field', async ({ page, baseURL }) => {
    const other = baseURL!.replace('127.0.0.1', 'localhost');
    await page.goto('/empty');
    await page.setContent(`<iframe src="${other}/inner"></iframe>`);
    await page.frameLocator('iframe').getByLabel('Field').click();
    await page.keyboard.type('keys');
    await expect(page.frameLocator('iframe').getByLabel('Field')).toHaveValue('keys');
  });
});
