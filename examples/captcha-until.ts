// A captcha for a person, who need not press Done: the takeover ends by itself
// when the page behind the captcha appears.
const base: string = args?.base ?? 'http://127.0.0.1:8080';
await page.goto(`${base}/demo/login`);
await page.getByLabel('Email').fill('demo@example.com');
await page.getByLabel('Password').fill('open-sesame');
await page.getByRole('button', { name: 'Sign in' }).click();
const { changes } = await requestTakeover('Please solve the captcha', { until: '**/demo/code', timeout: 120_000 });
await expect(page.getByLabel('Code')).toBeVisible();
return { from: new URL(changes.urlBefore).pathname, to: new URL(page.url()).pathname };
