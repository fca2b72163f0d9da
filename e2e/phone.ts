import { borrow } from './lend.js';
import { auth, hasPicture, Receipts } from './remote.js';
import { devices, expect, type APIRequestContext, type Browser, type Page } from './test.js';

/** A phone upright, with the keyboard open, and turned. */
export const WINDOWS = [{ width: 390, height: 844 }, { width: 390, height: 520 }, { width: 844, height: 600 }] as const;

/** What is asked for, and with which phone and line. */
interface Asked { reason?: string; note?: string; port?: number; size?: { width: number; height: number }; prepare?: (page: Page) => Promise<void> }

/** Opens the link of a new takeover on a phone, waits for control, and says how long (ms) the first picture took. */
export async function onPhone(browser: Browser, request: APIRequestContext, url: string, { reason = 'Help', note = '', port, size = WINDOWS[0], prepare = async () => {} }: Asked = {}): Promise<{ id: string; takeover: string; page: Page; title: () => Promise<string>; first: number; receipts: Receipts }> {
  const id = await borrow(request, url);
  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason, note, timeout: 600_000 } })).json();
  const context = await browser.newContext({ ...devices['iPhone 13'], defaultBrowserType: undefined, viewport: size } as object);
  const page = await context.newPage();
  const receipts = new Receipts(page);
  await prepare(page);
  const began = Date.now();
  await page.goto(port ? asked.url.replace(/:\d+/, `:${port}`) : asked.url);
  await hasPicture(page);
  const first = Date.now() - began;
  await expect(page.locator('#control-words')).toHaveText('You are in control');
  return { id, takeover: asked.id, page, title: async () => (await (await request.get(`/v1/sessions/${id}`, { headers: auth() })).json()).title, first, receipts };
}
