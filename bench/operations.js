// The code that the script rows measure, as the body of an async function (page, args). Both sides run exactly this text: Takeover as a script, and
// Node with playwright-core. args is {op, n, url, form, apart}. apart is the longest pause, in milliseconds, before a call, so that operations that
// wait for Chromium's frames are not in step with them.
let turn = 0;
const operations = {
  evaluate: () => page.evaluate(() => 1 + 1),
  title: () => page.title(),
  textContent: () => page.locator('h1').textContent(),
  fill: () => page.getByLabel('User').fill(`user ${++turn}`),
  click: () => page.getByRole('button', { name: 'Count' }).click(),
  goto: () => page.goto(args.url),
  screenshot: () => page.screenshot(),
  login: async () => {
    await page.goto(args.form);
    await page.getByLabel('User').fill('ada');
    await page.getByLabel('Password').fill('secret');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/welcome?*');
    if (await page.getByRole('heading').textContent() !== 'Welcome')
      throw new Error('not signed in');
  },
};
const run = operations[args.op];
await page.goto(args.form);
await run(); // not measured: the row "a login flow" contains the cost of the first use in a document
const times = [];
for (let i = 0; i < args.n; i++) {
  if (args.apart)
    await new Promise(done => setTimeout(done, Math.random() * args.apart));
  const started = performance.now();
  await run();
  times.push(performance.now() - started);
}
return times;
