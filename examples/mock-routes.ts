// Answering the page's own requests: with a made-up answer, with a changed one,
// and with a failure.
const base = args?.base ?? 'http://127.0.0.1:8080';
const weather = page.locator('#weather');
const seen: (string | null)[] = [];
const ask = async (expected: string) => {
  await page.getByRole('button', { name: 'Ask again' }).click();
  await expect(weather).toHaveText(expected);
  seen.push(await weather.textContent());
};

await page.route('**/api/weather', route => route.fulfill({ json: { city: 'Bergen', sky: 'sun', degrees: 31 } }));
await page.goto(`${base}/demo/weather`);
await ask('Bergen: sun, 31 °C');

await page.route('**/api/weather', async route => {
  const response = await route.fetch();
  const json = await response.json();
  await route.fulfill({ response, json: { ...json, degrees: json.degrees + 10 } });
});
await ask('Bergen: rain, 19 °C');

await page.route('**/api/weather', route => route.abort());
await ask('The weather could not be asked for.');
return seen;
