// Dragging a slider with the mouse to about the wanted value, and correcting it
// with the keyboard.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/lamp`);
const knob = page.getByRole('slider', { name: 'Brightness' });
const track = (await page.locator('#track').boundingBox())!;
const grip = (await knob.boundingBox())!;
const middle = grip.y + grip.height / 2;
await page.mouse.move(grip.x + grip.width / 2, middle);
await page.mouse.down();
await page.mouse.move(track.x + track.width * 0.7, middle, { steps: 12 });
await page.mouse.up();
while (Number(await page.locator('#brightness').textContent()) < 75) await knob.press('ArrowRight');
const brightness = Number(await page.locator('#brightness').textContent());
expect(brightness).toBeLessThan(80);
return { enough: brightness >= 75 };
