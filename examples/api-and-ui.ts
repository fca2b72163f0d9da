// An API and its page together: what the API creates appears on the page, and what
// the page does appears in the API. Both use the same cookies.
const base = args?.base ?? 'http://127.0.0.1:8080';
const api = `${base}/demo/api/todos`;
for (const text of ['Water the plants', 'Buy tea']) expect((await page.request.post(api, { data: { text } })).status()).toBe(201);
await page.goto(`${base}/demo/todos`);
await expect(page.locator('#todos li')).toHaveCount(2);
await page.getByRole('button', { name: 'Done: Water the plants' }).click();
await page.getByLabel('What').fill('Write home');
await page.getByRole('button', { name: 'Add' }).click();
await expect(page.getByRole('status')).toHaveText('2 things to do');
const left: { text: string }[] = await (await page.request.get(api)).json();
return left.map(todo => todo.text);
