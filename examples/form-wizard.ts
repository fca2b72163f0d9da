// A form in several steps, which complains about what is missing.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/wizard`);
const next = page.getByRole('button', { name: 'Next' });
await next.click();
await expect(page.getByRole('alert')).toHaveText('Please say who you are.');
await page.getByLabel('Your name').fill('Ada');
await page.getByLabel('Email').fill('ada@example.com');
await next.click();
await page.getByLabel('Day').fill('2026-07-01');
await page.getByLabel('Guests').selectOption('3');
await next.click();
await expect(page.locator('#summary')).toHaveText('Ada, 3 guests on 2026-07-01');
await page.getByRole('button', { name: 'Back' }).click();
await page.getByLabel('Guests').selectOption('2');
await next.click();
await page.getByLabel('I agree').check();
await page.getByRole('button', { name: 'Book' }).click();
return await page.getByRole('status').textContent();
