// Emulating a location: the page gets one place, then another.
const base = args?.base ?? 'http://127.0.0.1:8080';
const there = await browser.newContext({ geolocation: { latitude: 43.77, longitude: 11.25 }, permissions: ['geolocation'] });
const tab = await there.newPage();
await tab.goto(`${base}/demo/nearby`);
const nearest = async (city: string) => {
  await tab.getByRole('button', { name: 'Find the nearest shop' }).click();
  await expect(tab.getByRole('status')).toHaveText(`The nearest shop is in ${city}.`);
  return city;
};
const found = [await nearest('Rome')];
await there.setGeolocation({ latitude: 60.39, longitude: 5.32 });
found.push(await nearest('Oslo'));
await there.close();
return found;
