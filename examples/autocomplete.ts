// A search field with suggestions, by keyboard and by mouse.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/search`);
const field = page.getByRole('combobox', { name: 'City' });
await field.pressSequentially('be', { delay: 20 });
await expect(page.getByRole('option')).toHaveText(['Berlin', 'Bern']);
await field.press('ArrowDown');
await field.press('ArrowDown');
await field.press('Enter');
const byKeyboard = await page.getByRole('status').textContent();
await field.fill('vi');
await page.getByRole('option', { name: 'Vilnius' }).click();
return { byKeyboard, byMouse: await page.getByRole('status').textContent() };
