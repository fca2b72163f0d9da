// The same thing in several tabs at once, compared afterwards.
const base = args?.base ?? 'http://127.0.0.1:8080';
const items = await Promise.all([1, 4, 9].map(async id => {
  const tab = await context.newPage();
  await tab.goto(`${base}/demo/items/${id}`);
  const item = { name: await tab.getByRole('heading').textContent(), price: parseFloat((await tab.locator('.price').textContent())!) };
  await tab.close();
  return item;
}));
return { cheapest: items.reduce((a, b) => a.price < b.price ? a : b).name, items };
