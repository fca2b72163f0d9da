// Signing in with another site, which opens a popup and closes it.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/account`);
const opened = page.waitForEvent('popup');
await page.getByRole('button', { name: 'Continue with Example ID' }).click();
const popup = await opened;
await popup.getByLabel('Name').fill('Grace');
const closed = popup.waitForEvent('close');
await popup.getByRole('button', { name: 'Allow' }).click();
await closed;
await expect(page.getByRole('status')).toHaveText('Signed in as Grace');
return { who: await page.getByRole('status').textContent(), popupClosed: popup.isClosed() };
