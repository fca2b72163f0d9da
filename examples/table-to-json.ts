// A table as JSON: the header gives the names, and each row becomes an object.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/orders`);
const names = await page.locator('thead th').allTextContents();
const rows = await page.locator('tbody tr').evaluateAll(all => all.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent!.trim())));
const orders = rows.map(cells => Object.fromEntries(cells.map((cell, i) => [names[i]!.toLowerCase(), cell])));
return { count: orders.length, open: orders.filter(o => o.state === 'open').map(o => o.number), first: orders[0] };
