import { expect, test, type APIRequestContext } from './test.js';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { auth, hasPicture, Remote, signIn } from './remote.js';

/** Pages that ask before they are left, and pages that do not load. */

/** The title shows what the page received. If its field has text, it asks before it is left. */
const FORM = `<!doctype html><title>form</title><textarea id=note style="position:absolute;left:0;top:0;width:600px;height:200px"></textarea><script>
  note.oninput = () => (document.title = 'note ' + note.value);
  addEventListener('beforeunload', (event) => note.value && event.preventDefault());</script>`;

let server: Server;
let site = '';
/** Responses that are held back. */
let held: ServerResponse[] = [];
let slow = 0;

test.beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/slow') {
      slow++;
      held.push(response);
      response.on('close', () => (held = held.filter((other) => other !== response)));
      return;
    }
    response.setHeader('Content-Type', 'text/html').end(request.url === '/form' ? FORM : '<!doctype html><title>elsewhere</title>');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

test.afterAll(() => {
  server.close();
  server.closeAllConnections();
});

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

async function open(request: APIRequestContext): Promise<string> {
  return (await (await request.post('/v1/sessions', { headers: auth(), data: { url: `${site}/form` } })).json()).id;
}

const title = (request: APIRequestContext, session: string) =>
  expect.poll(async () => (await (await request.get(`/v1/sessions/${session}`, { headers: auth() })).json()).title);

test('a page that asks whether to leave it is stayed on, and left', async ({ page, request }) => {
  const session = await open(request);
  await signIn(page);
  await page.goto(`/sessions/${session}`);
  await hasPicture(page);
  await new Remote(page).click({ x: 100, y: 100 });
  await page.keyboard.type('kept');
  await title(request, session).toBe('note kept');

  const leave = async (): Promise<void> => {
    await page.locator('#address').fill(`${site}/elsewhere`);
    await page.locator('#address').press('Enter');
  };
  const dialog = page.getByRole('dialog', { name: /^Leave this page\?/ });
  await leave();
  await expect(dialog).toContainText('What you entered there may be lost.');
  await dialog.getByRole('button', { name: 'Stay' }).click();
  await expect(dialog).toBeHidden();
  // The page is the same, still has its text, and accepts more.
  await new Remote(page).click({ x: 100, y: 100 });
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' on');
  await title(request, session).toBe('note kept on');

  await leave();
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await expect(dialog).toBeHidden();
  await title(request, session).toBe('elsewhere');
});

test('a page that does not come is given up by Stop', async ({ page, request }) => {
  const session = await open(request);
  await signIn(page);
  await page.goto(`/sessions/${session}`);
  await hasPicture(page);
  await page.getByRole('button', { name: 'Take control' }).click();
  const before = slow;
  await page.locator('#address').fill(`${site}/slow`);
  await page.locator('#address').press('Enter');
  await expect.poll(() => slow).toBe(before + 1);
  await page.getByRole('button', { name: 'Stop loading' }).click();
  // The server closes the connection. The previous page is still shown and accepts what is typed.
  await expect.poll(() => held.length).toBe(0);
  await expect(page.locator('#reload')).toHaveAccessibleName('Reload');
  await new Remote(page).click({ x: 100, y: 100 });
  await page.keyboard.type('here');
  await title(request, session).toBe('note here');
});
