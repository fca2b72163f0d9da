// Collecting from all pages of a list, by following the link "Next".
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/catalog`);
const items: { name: string; price: number }[] = [];
for (;;) {
  for (const row of await page.locator('.items li').all())
    items.push({ name: (await row.getByRole('link').textContent())!, price: parseFloat((await row.locator('.price').textContent())!) });
  const next = page.getByRole('link', { name: 'Next' });
  if (!(await next.isVisible())) break;
  await next.click();
}
return { count: items.length, dearest: items.toSorted((a, b) => b.price - a.price)[0], pages: await page.getByText(/Page \d+ of/).textContent() };
