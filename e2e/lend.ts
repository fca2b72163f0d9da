import { chromium, expect, type APIRequestContext } from './test.js';
import { auth, key } from './remote.js';

/** The session that the tests of this worker borrow, one after the other. */
let lent = '';

/**
 * Gives a test a session with one tab at `url`, and returns its id. The former borrower has left no tab, cookie, permission, viewer or
 * hold of control; what a session keeps is still there: runs, takeovers, events, files. A test that counts these, or that ends its session or
 * names tabs by number, creates one of its own.
 */
export async function borrow(request: APIRequestContext, url: string): Promise<string> {
  if (lent && await cleaned(request, url)) return lent;
  if (lent) await request.post(`/v1/sessions/${lent}/release`, { headers: auth() }); // it may have ended
  const answer = await request.post('/v1/sessions', { headers: auth(), data: { url, capture: true } });
  expect(answer.status()).toBe(201);
  lent = ((await answer.json()) as { id: string }).id;
  return lent;
}

/** Makes the session as if it had just started with a URL, except for what borrow says is still there. Returns whether it could. */
async function cleaned(request: APIRequestContext, url: string): Promise<boolean> {
  const path = `/v1/sessions/${lent}`;
  const left = async (): Promise<string> => {
    const answer = await request.get(path, { headers: auth() });
    const { status, viewers, controller, takeover, held } = await answer.json();
    if (status !== 'live' || held) return 'of no use';
    if (takeover) await request.post(`${path}/takeovers/${takeover.id}/cancel`, { headers: auth(), data: {} });
    // A page that was closed is noticed a little later, and one whose line was cut keeps control for a while.
    return takeover || viewers > 0 || controller.startsWith('viewer:') ? 'in use' : new URL(answer.url()).origin;
  };
  await expect.poll(left).not.toBe('in use');
  const origin = await left();
  if (!origin.startsWith('http')) return false;
  const browser = await chromium.connectOverCDP(`${origin}${path}?token=${key()}`);
  try {
    const [context] = browser.contexts();
    const old = context?.pages() ?? [];
    const page = await context?.newPage();
    for (const one of old) await one.close();
    await context?.clearCookies();
    await context?.clearPermissions();
    await page?.goto(url, { waitUntil: 'commit' });
  } finally {
    await browser.close(); // only the connection
  }
  return true;
}
