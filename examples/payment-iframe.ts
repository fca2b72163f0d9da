// A payment form that lives in a frame, with a mistake that is corrected.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/checkout`);
const card = page.frameLocator('iframe[title="Card"]');
await card.getByLabel('Card number').fill('4242 4242 4242');
await card.getByRole('button', { name: 'Pay' }).click();
const complaint = await card.getByRole('alert').textContent();
await card.getByLabel('Card number').fill('4242 4242 4242 4242');
await card.getByLabel('Expiry').fill('12/30');
await card.getByLabel('CVC').fill('123');
await card.getByRole('button', { name: 'Pay' }).click();
await expect(page.getByText('Paid with the card that ends in 4242')).toBeVisible();
return { complaint };
