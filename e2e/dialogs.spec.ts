import { expect, test } from './test.js';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { auth, hasPicture, signIn } from './remote.js';

/** Several questions of remote pages at the same time, and who may answer them. */

/** A page that asks a question as soon as the test's server answers `/turn/` and its name. */
const PAGE = `<!doctype html><title>asks</title><script>
  fetch('/turn/' + location.hash.slice(1)).then(() => fetch('/answer', { method: 'POST', body: location.hash + ' ' + confirm(location.hash) }))</script>`;

test('questions of two pages come one after the other, and only who may answer them does', async ({ page, request }) => {
  const turns = new Map<string, ServerResponse>();
  const answers: string[] = [];
  const site = createServer((incoming, outgoing) => {
    const [, turn] = /^\/turn\/(.*)/.exec(incoming.url ?? '') ?? [];
    if (turn) return turns.set(turn, outgoing);
    if (incoming.url === '/answer') incoming.setEncoding('utf8').on('data', (text: string) => answers.push(text));
    outgoing.setHeader('Content-Type', 'text/html').end(PAGE);
  });
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
  const { port } = site.address() as AddressInfo;
  try {
    const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { url: `http://127.0.0.1:${port}/#one` } })).json();
    // Another site has another process, which asks while the first one is blocked.
    const code = `await (await context.newPage()).goto('http://localhost:${port}/#two')`;
    const run = await (await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { wait: true, code } })).json();
    expect(run.error ?? null).toBeNull();
    await expect.poll(() => turns.size).toBe(2);

    await signIn(page);
    const other = await page.context().newPage();
    for (const each of [page, other]) {
      await each.goto(`/sessions/${id}`);
      await hasPicture(each);
    }
    await page.getByRole('button', { name: 'Take control' }).click();
    await expect(other.locator('#control-words')).toHaveText('Another person is in control');
    const mine = page.locator('#remote-dialog');
    const theirs = other.locator('#remote-dialog');
    turns.get('one')?.end();
    await expect(mine).toContainText('#one');
    await expect(theirs).toContainText('#one');
    turns.get('two')?.end();

    // A person who is not in control may read the question.
    await other.keyboard.press('Escape');
    await other.keyboard.press('Escape');
    await expect(theirs.getByRole('button', { name: 'OK' })).toBeDisabled();
    await expect(theirs).toBeVisible();
    await mine.getByRole('button', { name: 'OK' }).click();
    await expect.poll(() => answers).toEqual(['#one true']);
    await expect(mine).toContainText('#two');
    await expect(theirs).toContainText('#two');
    await page.keyboard.press('Escape');
    await expect.poll(() => answers).toEqual(['#one true', '#two false']);
    await expect(mine).toBeHidden();
    await expect(theirs).toBeHidden();
  } finally {
    await request.post('/v1/sessions/release', { headers: auth(), data: {} });
    site.close();
    site.closeAllConnections();
  }
});
