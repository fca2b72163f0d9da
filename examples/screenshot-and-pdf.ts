// Screenshots of the visible part of the page, of the whole page and of one
// element, and a PDF, all kept with the session's files.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/orders`);
const shown = await page.screenshot({ path: 'orders.png' });
await page.screenshot({ path: 'orders-whole.jpg', type: 'jpeg', quality: 80, fullPage: true });
await page.getByRole('table').screenshot({ path: 'table.png' });
const paper = await page.pdf({ path: 'orders.pdf', format: 'A4' });
return { png: shown.subarray(1, 4).toString(), pdf: paper.subarray(0, 4).toString() };
