// https://playwright.dev/docs/downloads and uploads of /docs/input
import { test, expect } from '@playwright/test';

test.beforeEach(async ({ page }) => {
  await page.goto('/empty');
  await page.setContent('<a href="/download">get</a><a href="data:text/plain,made" download="named.txt">made</a>');
});

test('a click that downloads', async ({ page, baseURL }) => {
  const waiting = page.waitForEvent('download');
  await page.getByText('get').click();
  const download = await waiting;
  expect(download.url()).toBe(baseURL + '/download');
  expect(download.suggestedFilename()).toBe('report.txt');
  expect(download.page()).toBe(page);
  expect(await download.failure()).toBe(null);
});

test('reading it as a stream', async ({ page }) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('get').click()]);
  const chunks: Uint8Array[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('the report');
});

test('saving it', async ({ page }, testInfo) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('get').click()]);
  await download.saveAs(testInfo.outputPath('saved.txt'));
  expect(await download.failure()).toBe(null);
});

test('path() is there when it is done', async ({ page }) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('get').click()]);
  expect((await download.path()).length).toBeGreaterThan(3);
});

test('the name of the download attribute', async ({ page }) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('made').click()]);
  expect(download.suggestedFilename()).toBe('named.txt');
});

test('delete', async ({ page }) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('get').click()]);
  await download.delete();
  expect(download.suggestedFilename()).toBe('report.txt');
});

test('cancel', async ({ page }) => {
  await page.setContent('<a href="/download?ms=3000">slow</a>');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('slow').click()]);
  await download.cancel();
  expect(await download.failure()).toBe('canceled');
});

test('downloads of a popup', async ({ page, context }) => {
  const second = await context.newPage();
  await second.goto('/empty');
  await second.setContent('<a href="/download">get</a>');
  const [download] = await Promise.all([second.waitForEvent('download'), second.getByText('get').click()]);
  expect(download.page()).toBe(second);
});

test('by an uploaded form and back', async ({ page }) => {
  await page.setContent('<form action="/upload" method="post" enctype="multipart/form-data"><input name="who" value="Ada"><input type="file" name="doc"><button>Send</button></form>');
  await page.locator('[type=file]').setInputFiles({ name: 'doc.txt', mimeType: 'text/plain', buffer: Buffer.from('words') });
  const [response] = await Promise.all([page.waitForResponse('**/upload'), page.getByText('Send').click()]);
  expect(await response.json()).toEqual({ fields: { who: ['Ada'] }, files: [{ Field: 'doc', Name: 'doc.txt', Type: 'text/plain', Text: 'words' }] });
});

test.describe('not accepted', () => {
  test.use({ acceptDownloads: false });

  test('acceptDownloads: false', async ({ page }) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('get').click()]);
    expect(await download.failure()).toContain('acceptDownloads');
    await expect(download.path()).rejects.toThrow('acceptDownloads');
  });
});
