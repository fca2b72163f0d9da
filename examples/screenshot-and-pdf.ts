// Pictures and paper, kept with the session's files: the page as it is shown,
// the whole page, one element of it, and a PDF.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/orders`);
const shown = await page.screenshot({ path: 'orders.png' });
await page.screenshot({ path: 'orders-whole.jpg', type: 'jpeg', quality: 80, fullPage: true });
await page.getByRole('table').screenshot({ path: 'table.png' });
const paper = await page.pdf({ path: 'orders.pdf', format: 'A4' });
return { png: shown.subarray(1, 4).toString(), pdf: paper.subarray(0, 4).toString() };
