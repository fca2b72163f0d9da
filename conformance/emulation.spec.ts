// https://playwright.dev/docs/emulation
import { test, expect, devices } from '@playwright/test';

test.describe('options of a context', () => {
  test.describe('viewport and scale', () => {
    test.use({ viewport: { width: 640, height: 480 }, deviceScaleFactor: 2 });
    test('are what the page sees', async ({ page }) => {
      expect(page.viewportSize()).toEqual({ width: 640, height: 480 });
      expect(await page.evaluate('[innerWidth, innerHeight, devicePixelRatio]')).toEqual([640, 480, 2]);
      expect((await page.screenshot()).readUInt32BE(16)).toBe(1280);
      expect((await page.screenshot({ scale: 'css' })).readUInt32BE(16)).toBe(640);
    });
  });

  test.describe('locale and timezone', () => {
    test.use({ locale: 'de-DE', timezoneId: 'America/New_York' });
    test('are what the page sees', async ({ page }) => {
      expect(await page.evaluate('navigator.language')).toBe('de-DE');
      expect(await page.evaluate(() => (1234.5).toLocaleString())).toBe('1.234,5');
      expect(await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)).toBe('America/New_York');
      expect(await page.evaluate(() => new Date(1700000000000).getTimezoneOffset())).toBe(300);
      expect((await (await page.goto('/echo'))!.json()).headers['accept-language']).toMatch(/^de-DE/);
    });
  });

  test.describe('userAgent', () => {
    test.use({ userAgent: 'Mine/1.0' });
    test('is sent and seen', async ({ page }) => {
      expect((await (await page.goto('/echo'))!.json()).headers['user-agent']).toBe('Mine/1.0');
      expect(await page.evaluate('navigator.userAgent')).toBe('Mine/1.0');
    });
  });

  test.describe('geolocation and permissions', () => {
    test.use({ geolocation: { longitude: 41.890221, latitude: 12.492348 }, permissions: ['geolocation'] });
    test('are what the page gets, and can change', async ({ page, context }) => {
      await page.goto('/empty');
      const where = () => page.evaluate(() => new Promise(f => navigator.geolocation.getCurrentPosition(p => f([p.coords.latitude, p.coords.longitude]), e => f(e.message))));
      expect(await where()).toEqual([12.492348, 41.890221]);
      await context.setGeolocation({ longitude: 48.858455, latitude: 2.294474 });
      expect(await where()).toEqual([2.294474, 48.858455]);
    });
  });

  test.describe('javaScriptEnabled: false', () => {
    test.use({ javaScriptEnabled: false });
    test('stops scripts of the page', async ({ page }) => {
      await page.route('**/page', r => r.fulfill({ contentType: 'text/html', body: '<p>plain</p><script>document.querySelector("p").textContent = "script"</script>' }));
      await page.goto('/page');
      await expect(page.locator('p')).toHaveText('plain');
    });
  });

  test.describe('colour scheme, motion, contrast, forced colours', () => {
    test.use({ colorScheme: 'dark', contextOptions: { reducedMotion: 'reduce', forcedColors: 'active', contrast: 'more' } });
    test('are matched by media queries', async ({ page }) => {
      const matches = (q: string) => page.evaluate(q => matchMedia(q).matches, q);
      expect(await matches('(prefers-color-scheme: dark)')).toBe(true);
      expect(await matches('(prefers-reduced-motion: reduce)')).toBe(true);
      expect(await matches('(forced-colors: active)')).toBe(true);
      expect(await matches('(prefers-contrast: more)')).toBe(true);
    });
  });

  test.describe('mobile device', () => {
    const { defaultBrowserType: _, ...phone } = devices['Pixel 5'] ?? {};
    test.use(phone);
    test('has touch, size and user agent', async ({ page, isMobile, hasTouch }) => {
      await page.goto('/empty');
      expect([isMobile, hasTouch]).toEqual([true, true]);
      expect(await page.evaluate('navigator.userAgent')).toContain('Pixel 5');
      expect(await page.evaluate('navigator.maxTouchPoints')).toBeGreaterThan(0);
      expect(page.viewportSize()).toEqual(devices['Pixel 5'].viewport);
      expect(await page.evaluate('devicePixelRatio')).toBe(2.75);
    });
  });

  test.describe('bypassCSP', () => {
    test.use({ bypassCSP: true });
    test('lets scripts be added', async ({ page }) => {
      await page.goto('/policy');
      await page.addScriptTag({ content: 'window.added = 1' });
      expect(await page.evaluate('window.added')).toBe(1);
    });
  });

  test('without bypassCSP scripts are stopped', async ({ page }) => {
    await page.goto('/policy');
    await page.addScriptTag({ content: 'window.added = 1' }).catch(() => {});
    expect(await page.evaluate('window.added')).toBe(undefined);
  });

  test.describe('offline', () => {
    test.use({ offline: true });
    test('from the start', async ({ page }) => {
      await expect(page.goto('/one')).rejects.toThrow('net::ERR_INTERNET_DISCONNECTED');
    });
  });

  test.describe('baseURL', () => {
    test('relative addresses go to it', async ({ browser, baseURL }) => {
      const context = await browser.newContext({ baseURL: baseURL + '/redirect/' });
      const page = await context.newPage();
      const response = await page.goto('../one');
      expect(response!.url()).toBe(baseURL + '/one');
      await context.close();
    });
  });

  test('a viewport of null keeps the window', async ({ browser }) => {
    const context = await browser.newContext({ viewport: null });
    const page = await context.newPage();
    expect(page.viewportSize()).toBe(null);
    await context.close();
  });
});

test.describe('while running', () => {
  test('emulateMedia', async ({ page }) => {
    const matches = (q: string) => page.evaluate(q => matchMedia(q).matches, q);
    await page.emulateMedia({ media: 'print' });
    expect(await matches('print')).toBe(true);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect([await matches('print'), await matches('(prefers-color-scheme: dark)')]).toEqual([true, true]);
    await page.emulateMedia({ media: null, colorScheme: 'light', reducedMotion: 'reduce', contrast: 'more' });
    expect([await matches('print'), await matches('(prefers-color-scheme: dark)'), await matches('(prefers-reduced-motion)'), await matches('(prefers-contrast: more)')]).toEqual([false, false, true, true]);
  });

  test('grantPermissions and clearPermissions', async ({ page, context, baseURL }) => {
    const state = () => page.evaluate(async () => (await navigator.permissions.query({ name: 'notifications' })).state);
    await page.goto('/empty');
    await context.grantPermissions(['notifications'], { origin: baseURL });
    expect(await state()).toBe('granted');
    await context.clearPermissions();
    expect(await state()).not.toBe('granted');
    await expect(context.grantPermissions(['nonsense'])).rejects.toThrow('Unknown permission: nonsense');
  });

  test('clipboard with permission', async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/empty');
    await page.bringToFront();
    expect(await page.evaluate(async () => { await navigator.clipboard.writeText('copied'); return navigator.clipboard.readText(); })).toBe('copied');
  });

  test('devices are known by name', async () => {
    expect(devices['iPhone 13']).toMatchObject({ isMobile: true, hasTouch: true, deviceScaleFactor: 3, viewport: { width: 390, height: 664 } });
    expect(devices['Desktop Chrome'].viewport).toEqual({ width: 1280, height: 720 });
    expect(devices['No such phone']).toBe(undefined);
  });
});
