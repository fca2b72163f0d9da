// Waiting for what really matters: one response, or all of them.
const base = args?.base ?? 'http://127.0.0.1:8080';
const waiting = page.waitForResponse(response => response.url().endsWith('/stats/orders') && response.ok());
await page.goto(`${base}/demo/dashboard`);
const orders: { value: number } = await (await waiting).json();
await page.waitForLoadState('networkidle');
return { orders: orders.value, shown: await page.locator('dd').allTextContents() };
