import { Line, POOR, VERY_POOR } from './line.js';
import { onPhone, WINDOWS } from './phone.js';
import { codeOnPhone, enlarged, explore, Fingers, Receipts, signInByHand, still } from './remote.js';
import { expect, test, type Page } from './test.js';

/** A takeover on a phone whose line is slow, or breaks. */

/** How long a line is silent (ms). */
const OUTAGE = 20_000;

/** Lines over which a stranger signs in, the size of the phone, how soon (ms) there is a picture on a machine that is not busy, and what else happens before each answer. */
const LINES = [
  { name: 'a good line that breaks, on a phone that is turned', speed: undefined, size: WINDOWS[0], soon: 3_500, step: async (page: Page, line: Line, _: number, receipts: Receipts) => {
    await receipts.all(); // the letters after a press that is not confirmed are told as lost
    await page.setViewportSize(WINDOWS[2]);
    const again = page.waitForEvent('websocket');
    line.reset();
    // A drag that is made before the new connection is open is told as lost. The words stay for a moment, so they do not say when that is.
    const socket = await again;
    await socket.waitForEvent('framereceived');
    await expect(page.locator('#control-words')).toHaveText('You are in control');
    // A person presses what they see: the picture that comes for the window's new shape.
    const picture = socket.waitForEvent('framereceived', ({ payload }) => typeof payload !== 'string');
    await page.setViewportSize(WINDOWS[1]);
    await picture;
    await still(page);
  } },
  { name: '1 Mbit/s and 200 ms with an outage of 20 s, sideways', speed: POOR, size: { width: 844, height: 390 }, soon: 3_500, step: async (page: Page, line: Line, n: number) => {
    if (n > 0) return;
    const began = Date.now();
    line.silence();
    await expect(page.locator('#control-words')).toHaveText('The connection is slow', { timeout: 10_000 });
    await expect.poll(() => Date.now() - began, { timeout: OUTAGE + 5_000 }).toBeGreaterThan(OUTAGE);
    line.resume();
    await expect(page.locator('#control-words')).toHaveText('You are in control', { timeout: 40_000 });
  } },
  { name: '256 kbit/s and 400 ms, on a small phone', speed: VERY_POOR, size: { width: 320, height: 568 }, soon: 10_000, step: async () => {} },
] as const;

for (const { name, speed, size, soon, step } of LINES) {
  test(`a stranger signs in over ${name}`, async ({ browser, request, server, baseURL }) => {
    const own = await browser.newContext();
    const places = await explore(await own.newPage());
    await own.close();
    const direct = await onPhone(browser, request, `${baseURL}/demo/login`, { size });
    await direct.page.context().close();
    const line = new Line(Number(new URL(server.url).port), speed);
    await line.mend();
    const { id, page, title, first, receipts } = await onPhone(browser, request, `${baseURL}/demo/login`, { port: line.port, size });
    expect(first, 'until the first picture').toBeLessThan(Math.max(soon, 3 * direct.first));
    await enlarged(page);
    const fingers = await Fingers.on(page);
    await fingers.click(places.email);
    await expect(page.locator('#keys')).toBeFocused();
    await page.keyboard.type('demo@example.com');
    let steps = 0;
    await signInByHand(fingers, places, () => codeOnPhone(request, id), () => step(page, line, steps++, receipts));
    await expect.poll(title).toContain('Welcome');
    await page.getByRole('button', { name: 'Done' }).click();
    await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible();
    await page.context().close();
    line.cut();
  });
}
