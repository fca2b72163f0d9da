// Documents, frames and pages that come and go while a script works with them.
import { test, expect, type Page } from '@playwright/test';

test('a page from the back-forward cache', async ({ page }) => {
  await page.goto('/one');
  await page.evaluate(() => { (window as any).kept = true; addEventListener('pageshow', e => { (window as any).persisted = e.persisted; }); });
  await page.goto('/two');
  await page.goBack();
  await expect(page.locator('h1')).toHaveText('One');
  expect(await page.title()).toBe('One');
  expect(await page.evaluate(() => !(window as any).kept || (window as any).persisted)).toBe(true);
  await page.goForward();
  await expect(page.getByRole('heading', { name: 'Two' })).toBeVisible();
});

test('window.stop leaves the page as it was', async ({ page }) => {
  await page.goto('/one');
  await page.evaluate(() => { location.href = '/slow?ms=5000'; setTimeout(() => window.stop(), 50); });
  await expect(page).toHaveURL(/\/one$/);
  await page.getByRole('link').click();
  await expect(page.locator('h1')).toHaveText('Two');
});

test('javascript: addresses', async ({ page }) => {
  await page.setContent('<a href="javascript:void(window.ran = 1)">run</a><a href="javascript:\'<p>written</p>\'">write</a>');
  await page.getByText('run').click();
  await expect.poll(() => page.evaluate(() => (window as any).ran)).toBe(1); // the removal runs in a separate task
  await page.getByText('write').click();
  await expect(page.locator('p')).toHaveText('written');
});

test('bursts of popups that close at once', async ({ page, context }) => {
  await page.goto('/one');
  let opened = 0, closed = 0;
  const all = new Promise<void>(done => context.on('page', (p: Page) => {
    opened++;
    p.on('close', () => { if (++closed === 6) done(); });
  }));
  await page.evaluate(() => { for (let i = 0; i < 6; i++) { const w = window.open('/popup?' + i)!; setTimeout(() => w.close(), i * 30); } });
  await all;
  expect([opened, closed, context.pages().length]).toEqual([6, 6, 1]);
  await expect(page.locator('h1')).toHaveText('One');
});

test('a frame that comes and goes while it is waited in', async ({ page }) => {
  await page.goto('/one');
  await page.evaluate(() => {
    let n = 0;
    const turn = () => {
      document.querySelector('iframe')?.remove();
      const frame = document.createElement('iframe');
      frame.src = n++ < 8 ? '/one' : '/inner';
      document.body.append(frame);
      if (n < 10)
        setTimeout(turn, 40);
    };
    turn();
  });
  const inner = page.frameLocator('iframe');
  await inner.getByRole('button', { name: 'Press' }).click();
  await expect(inner.locator('#text')).toHaveText('pressed');
  expect(page.frames().length).toBe(2);
});

test('a chain of redirects', async ({ page }) => {
  const response = (await page.goto('/redirect?to=two&times=3'))!;
  await expect(page).toHaveURL(/\/two$/);
  let hops = 0;
  for (let r = response.request().redirectedFrom(); r; r = r.redirectedFrom())
    hops++;
  expect(hops).toBeGreaterThan(0);
});

test('an error page, then a reload', async ({ page }) => {
  let fail = true;
  await page.route('**/one', route => fail ? route.abort('connectionrefused') : route.continue());
  await expect(page.goto('/one')).rejects.toThrow('net::ERR_CONNECTION_REFUSED');
  fail = false;
  await page.waitForURL('chrome-error://chromewebdata/');
  await page.reload();
  await expect(page.locator('h1')).toHaveText('One');
});

test('204 and a download do not leave the page', async ({ page }) => {
  await page.goto('/one');
  await expect(page.goto('/status/204')).rejects.toThrow('net::ERR_ABORTED');
  const download = page.waitForEvent('download');
  await expect(page.goto('/download')).rejects.toThrow('Download is starting');
  await (await download).cancel();
  await expect(page.locator('h1')).toHaveText('One');
  await expect(page).toHaveURL(/\/one$/);
});
