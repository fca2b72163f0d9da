import { readFileSync } from 'node:fs';
import { accessible, auth, hasPicture, newSession, signIn } from './remote.js';
import { expect, test } from './test.js';

/** The switch that records a session. */

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('an operator records a session, a guest reads it, and the recording is downloaded', async ({ page, browser, request }) => {
  await signIn(page);
  const session = await newSession(page);
  const { url } = await (await request.post(`/v1/sessions/${session}/links`, { headers: auth(), data: { role: 'view' } })).json();
  const guest = await (await browser.newContext()).newPage();
  await guest.goto(url);
  await hasPicture(guest);
  await expect(guest.getByText('Recorded', { exact: true })).toBeHidden();

  await page.getByRole('button', { name: 'Record' }).click();
  await accessible(page, 'record');
  await page.getByLabel('Pictures').selectOption('after');
  await page.getByRole('button', { name: 'Start recording' }).click();
  const recording = page.getByRole('button', { name: 'Recording', exact: true });
  await expect(recording).toBeVisible();
  await expect(guest.getByText('Recorded', { exact: true })).toBeVisible();
  await accessible(guest, 'recorded');
  const code = "await page.setContent('<button>Send</button>'); await page.getByText('Send').click(); return 1";
  await request.post(`/v1/sessions/${session}/scripts`, { headers: auth(), data: { wait: true, code } });

  // It goes on while the page is loaded again, which knows it.
  await page.reload();
  await recording.click();
  await expect(page.getByRole('heading', { name: 'This session is being recorded' })).toBeVisible();
  await page.getByRole('button', { name: 'End recording' }).click();
  await expect(page.locator('#record-counts')).toHaveText('Kept 2 steps and 2 pictures.');
  await expect(page.locator('#record-scan')).toContainText('None was found');
  await accessible(page, 'recorded');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download', exact: true }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^traj-.*\.zip$/);
  expect(readFileSync(await file.path()).subarray(0, 2).toString()).toBe('PK');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

  // The report stays within reach until another recording is wanted.
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await expect(page.getByRole('link', { name: 'Download', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Record again' }).click();
  await expect(page.getByRole('heading', { name: 'Record this session' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Download', exact: true })).toBeHidden();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('button', { name: 'Record', exact: true })).toBeVisible();
  await expect(guest.getByText('Recorded', { exact: true })).toBeHidden();

  // What a program records without a bundle ends here, too, and is not lost.
  await request.post(`/v1/sessions/${session}/recording`, { headers: auth(), data: { action: 'start' } });
  await request.post(`/v1/sessions/${session}/scripts`, { headers: auth(), data: { wait: true, code } });
  await recording.click();
  await page.getByRole('button', { name: 'End recording' }).click();
  await expect(page.locator('#record-counts')).toContainText('Kept 4 events, in memory only.');
  const events = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download', exact: true }).click();
  expect(readFileSync(await (await events).path(), 'utf8').trim().split('\n')).toHaveLength(4);
  await guest.context().close();
});
