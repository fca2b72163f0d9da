// Signing in once, and starting other contexts signed in, with the same cookies
// and localStorage.
const base = args?.base ?? 'http://127.0.0.1:8080';
const first = await browser.newContext();
const door = await first.newPage();
await door.goto(`${base}/demo/members`);
await door.getByLabel('Name').fill('Ada');
await door.getByRole('button', { name: 'Join' }).click();
await door.getByLabel('Compact view').check();
const state = await first.storageState();
await first.close();

const second = await browser.newContext({ storageState: state });
const inside = await second.newPage();
await inside.goto(`${base}/demo/members`);
await expect(inside.getByLabel('Compact view')).toBeChecked();
const name = await inside.locator('#member').textContent();
await second.close();
return { name, cookies: state.cookies.length };
