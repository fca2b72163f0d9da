// https://playwright.dev/docs/clock
import { test, expect } from '@playwright/test';

const start = new Date('2024-02-02T08:00:00Z');

test('setFixedTime: time stands, timers run', async ({ page }) => {
  await page.clock.setFixedTime(start);
  await page.goto('/empty');
  expect(await page.evaluate(() => Date.now())).toBe(start.getTime());
  expect(await page.evaluate(() => new Promise(f => setTimeout(() => f(Date.now()), 20)))).toBe(start.getTime());
  await page.clock.setFixedTime('2025-01-01T00:00:00Z');
  expect(await page.evaluate(() => new Date().toISOString())).toBe('2025-01-01T00:00:00.000Z');
});

test('install, then fastForward fires what is due once', async ({ page }) => {
  await page.clock.install({ time: start });
  await page.goto('/empty');
  await page.evaluate(() => { (window as any).n = 0; setInterval(() => { (window as any).n++; }, 1000); setTimeout(() => { (window as any).late = true; }, 60_000); });
  await page.clock.fastForward('01:30');
  expect(await page.evaluate('[window.n, window.late]')).toEqual([1, true]);
  expect(await page.evaluate(() => Date.now())).toBeGreaterThanOrEqual(start.getTime() + 90_000);
});

test('runFor fires every timer on the way', async ({ page }) => {
  await page.clock.install({ time: start });
  await page.goto('/empty');
  await page.clock.pauseAt(new Date(start.getTime() + 60_000));
  await page.evaluate(() => { (window as any).n = 0; setInterval(() => { (window as any).n++; }, 1000); });
  await page.clock.runFor(5000);
  expect(await page.evaluate('window.n')).toBe(5);
  await page.clock.runFor('00:02');
  expect(await page.evaluate('window.n')).toBe(7);
});

test('pauseAt stops, resume goes on', async ({ page }) => {
  await page.clock.install({ time: start });
  await page.goto('/empty');
  const at = new Date('2024-02-02T10:00:00Z');
  await page.clock.pauseAt(at);
  expect(await page.evaluate(() => Date.now())).toBe(at.getTime());
  await page.evaluate(() => { setTimeout(() => { (window as any).fired = true; }, 50); });
  await page.evaluate(() => fetch('/slow?ms=100').then(r => r.text())); // real time passes
  expect(await page.evaluate('window.fired')).toBe(undefined);
  await page.clock.resume();
  await expect.poll(() => page.evaluate('window.fired')).toBe(true);
});

test('setSystemTime moves the clock and fires nothing', async ({ page }) => {
  await page.clock.install({ time: start });
  await page.goto('/empty');
  await page.evaluate(() => { setTimeout(() => { (window as any).fired = true; }, 60_000); });
  await page.clock.setSystemTime(new Date('2030-06-01T00:00:00Z'));
  expect(await page.evaluate(() => new Date().getUTCFullYear())).toBe(2030);
  expect(await page.evaluate('window.fired')).toBe(undefined);
});

test('performance.now, requestAnimationFrame and Intl follow', async ({ page }) => {
  await page.clock.install({ time: start });
  await page.goto('/empty');
  await page.clock.pauseAt(new Date(start.getTime() + 10_000));
  const before = await page.evaluate(() => performance.now());
  await page.evaluate(() => { requestAnimationFrame(() => { (window as any).frame = true; }); });
  await page.clock.runFor(1000);
  expect(await page.evaluate('window.frame')).toBe(true);
  expect(Math.round(await page.evaluate(() => performance.now()) - before)).toBe(1000);
  expect(await page.evaluate(() => new Intl.DateTimeFormat('en', { timeZone: 'UTC', year: 'numeric' }).format())).toBe('2024');
});

test('context.clock reaches all pages', async ({ context, page }) => {
  await context.clock.setFixedTime(start);
  const second = await context.newPage();
  await second.goto('/empty');
  await page.goto('/empty');
  expect(await page.evaluate(() => Date.now())).toBe(start.getTime());
  expect(await second.evaluate(() => Date.now())).toBe(start.getTime());
});

test('the clock stays over navigations and in frames', async ({ page }) => {
  await page.clock.setFixedTime(start);
  await page.goto('/framed');
  expect(await page.frame('inner')!.evaluate(() => Date.now())).toBe(start.getTime());
  await page.goto('/one');
  expect(await page.evaluate(() => Date.now())).toBe(start.getTime());
});

test('Date stays Date', async ({ page }) => {
  await page.clock.setFixedTime(start);
  await page.goto('/empty');
  expect(await page.evaluate(() => [new Date(0).getTime(), new Date() instanceof Date, Date.UTC(2020, 0), new Date(2020, 1, 1).getMonth()])).toEqual([0, true, 1577836800000, 1]);
});

test('auto-waiting works while the clock stands', async ({ page }) => {
  await page.clock.install({ time: start });
  await page.setContent(`<button onclick="this.textContent = 'done'">go</button>`);
  await page.clock.pauseAt(new Date(start.getTime() + 60_000));
  await page.getByRole('button').click();
  await expect(page.getByRole('button')).toHaveText('done');
});
