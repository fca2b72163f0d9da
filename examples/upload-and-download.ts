// Files in both directions: a download is kept with the session's files, from
// where it is uploaded again.
const base = args?.base ?? 'http://127.0.0.1:8080';
await page.goto(`${base}/demo/files`);
const waiting = page.waitForEvent('download');
await page.getByRole('link', { name: 'Download the orders' }).click();
const download = await waiting;
await download.saveAs('orders.csv');

await page.getByLabel('A file').setInputFiles('orders.csv');
await page.getByRole('button', { name: 'Send' }).click();
await expect(page.getByRole('status')).toContainText('orders.csv');
return { name: download.suggestedFilename(), lines: Number(await page.locator('#file-lines').textContent()) };
