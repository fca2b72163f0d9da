// Login with a second factor: the script fills in what it knows, and a person
// slides the captcha and enters the code that came to the phone.
const base: string = args?.base ?? 'http://127.0.0.1:8080';
await page.goto(`${base}/demo/login`);
await page.getByLabel('Email').fill('demo@example.com');
await page.getByLabel('Password').fill('open-sesame');
await page.getByRole('button', { name: 'Sign in' }).click();
try {
  const help = await requestTakeover('Slide the piece, then enter the code from your phone', { note: 'The code is shown under the form.' });
  console.log('helped by', help.by, 'for', help.durationMs, 'ms');
} catch (error) {
  if (error instanceof Error && error.name === 'TakeoverFailedError') return { signedIn: false, why: error.message };
  throw error;
}
await expect(page).toHaveURL(/welcome/);
return { signedIn: true, name: await page.locator('#user-name').textContent() };
