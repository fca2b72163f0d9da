// https://playwright.dev/docs/dialogs
import { test, expect } from '@playwright/test';

test('without a listener dialogs are dismissed', async ({ page }) => {
  expect(await page.evaluate(() => [alert('a') as unknown, confirm('b'), prompt('c', 'd')])).toEqual([undefined, false, null]);
});

test('accept a confirm', async ({ page }) => {
  page.on('dialog', dialog => dialog.accept());
  expect(await page.evaluate(() => confirm('sure?'))).toBe(true);
});

test('dismiss a confirm', async ({ page }) => {
  page.on('dialog', dialog => dialog.dismiss());
  expect(await page.evaluate(() => confirm('sure?'))).toBe(false);
});

test('answer a prompt', async ({ page }) => {
  page.on('dialog', dialog => dialog.accept('Ada'));
  expect(await page.evaluate(() => prompt('name?', 'nobody'))).toBe('Ada');
});

test('accepting a prompt without text takes nothing', async ({ page }) => {
  page.on('dialog', dialog => dialog.accept());
  expect(await page.evaluate(() => prompt('name?', 'nobody'))).toBe('');
});

test('what a dialog tells', async ({ page }) => {
  const seen: unknown[] = [];
  page.on('dialog', async dialog => {
    seen.push([dialog.type(), dialog.message(), dialog.defaultValue(), dialog.page() === page]);
    await dialog.accept();
  });
  await page.evaluate(() => { alert('one'); confirm('two'); prompt('three', 'x'); });
  expect(seen).toEqual([['alert', 'one', '', true], ['confirm', 'two', '', true], ['prompt', 'three', 'x', true]]);
});

test('a click that opens a dialog goes on when it is answered', async ({ page }) => {
  await page.setContent(`<button onclick="this.textContent = confirm('ok?') ? 'yes' : 'no'">ask</button>`);
  page.once('dialog', dialog => dialog.accept());
  await page.locator('button').click();
  await expect(page.locator('button')).toHaveText('yes');
  await page.locator('button').click();
  await expect(page.locator('button')).toHaveText('no');
});

test('waitForEvent of a dialog', async ({ page }) => {
  const waiting = page.waitForEvent('dialog');
  const answer = page.evaluate(() => prompt('q'));
  const dialog = await waiting;
  expect(dialog.message()).toBe('q');
  await dialog.accept('a');
  expect(await answer).toBe('a');
});

test('answering twice is refused', async ({ page }) => {
  const waiting = page.waitForEvent('dialog');
  const answer = page.evaluate(() => confirm('q'));
  const dialog = await waiting;
  await dialog.accept();
  expect(await answer).toBe(true);
  await expect(dialog.dismiss()).rejects.toThrow('Cannot dismiss dialog which is already handled!');
  await expect(dialog.accept()).rejects.toThrow('Cannot accept dialog which is already handled!');
});

test('the context tells of dialogs of all pages', async ({ context, page }) => {
  context.on('dialog', dialog => dialog.accept('from context'));
  expect(await page.evaluate(() => prompt('q'))).toBe('from context');
  const second = await context.newPage();
  expect(await second.evaluate(() => prompt('q'))).toBe('from context');
});

test('a dialog in a frame', async ({ page }) => {
  await page.goto('/framed');
  page.on('dialog', dialog => dialog.accept('framed'));
  expect(await page.frame('inner')!.evaluate(() => prompt('q'))).toBe('framed');
});

test('a listener that was removed does not answer', async ({ page }) => {
  const accept = (dialog: import('@playwright/test').Dialog) => dialog.accept();
  page.on('dialog', accept);
  expect(await page.evaluate(() => confirm('1'))).toBe(true);
  page.off('dialog', accept);
  expect(await page.evaluate(() => confirm('2'))).toBe(false);
});

test('a dialog while loading', async ({ page }) => {
  page.on('dialog', dialog => dialog.accept());
  await page.setContent('<script>window.said = confirm("now?")</script>');
  expect(await page.evaluate('window.said')).toBe(true);
});

test('print can be seen', async ({ page }) => {
  await page.evaluate(() => { (window as any).printed = false; window.print = () => { (window as any).printed = true; }; });
  await page.evaluate(() => window.print());
  expect(await page.evaluate('window.printed')).toBe(true);
});
