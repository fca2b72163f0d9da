// Elements with a shadow tree: locators look inside without being told.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/shelf`);
await page.getByRole('button', { name: 'More Apples' }).click({ clickCount: 2 });
const pears = page.locator('demo-counter', { hasText: 'Pears' });
await pears.getByRole('button').click();
await expect(pears.locator('output')).toHaveText('1');
return { apples: await page.locator('demo-counter').first().locator('output').textContent(), together: await page.locator('#together').textContent() };
