// Signs in to the demo site; a person does what a script cannot.
const base: string = args?.base ?? 'http://127.0.0.1:8080';
await page.goto(`${base}/demo/login`);
await page.getByLabel('Email').fill('demo@example.com');
try {
  await requestTakeover('Sign in to the demo site', { until: '**/demo/welcome', note: 'The password is on the page.' });
} catch (error) {
  if (error instanceof Error && error.name === 'TakeoverFailedError') return { signedIn: false, why: error.message };
  throw error;
}
await expect(page).toHaveURL(/welcome/);
return { signedIn: true, name: await page.locator('#user-name').textContent() };
