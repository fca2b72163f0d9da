import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { APIRequestContext, Locator } from '@playwright/test';

import { accessible, auth, signIn } from './remote.js';
import { expect, test } from './test.js';

const cli = join(createRequire(import.meta.url).resolve('playwright-core/package.json'), '../cli.js');

interface Recorded { session: string; trajectory: string }

/** Records a session in which a script signs in badly, and a person is asked. */
async function record(request: APIRequestContext, baseURL = ''): Promise<Recorded> {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { capture: true } })).json();
  const recording = async (data: object): Promise<{ trajectoryBundle: { trajectory_id: string } }> => (await request.post(`/v1/sessions/${id}/recording`, { headers: auth(), data })).json();
  await recording({ action: 'start', trajectoryBundle: true });
  const code = `
    await page.goto('${baseURL}/demo/login');
    await page.evaluate(() => console.log('said by the page'));
    await expect.contract({ url: { equals: 'nowhere' } });
    await page.getByText('no such thing').click({ timeout: 300 }).catch(() => {});
    await page.getByLabel('Password').fill('a secret of ours');`;
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, wait: true } });
  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Read the code' } })).json();
  await request.post(`/v1/sessions/${id}/takeovers/${asked.id}/fail`, { headers: auth(), data: { reason: 'It did not arrive' } });
  const { trajectoryBundle } = await recording({ action: 'stop' });
  return { session: id, trajectory: trajectoryBundle.trajectory_id };
}

test.afterEach(async ({ request }) => {
  await request.post('/v1/sessions/release', { headers: auth(), data: {} });
});

test('a recording is looked back at', async ({ page, request, baseURL }) => {
  const { session, trajectory } = await record(request, baseURL);
  await signIn(page);
  await page.goto('/trajectories');
  // Its name is that of the session's page; the id comes second.
  await expect(page.getByRole('link', { name: trajectory })).toHaveText(`Sign in · Demo ${trajectory}`);
  await page.getByRole('link', { name: trajectory }).click();
  // It opens at what failed first, and says what was expected.
  const step = (words: string): Locator => page.locator('.trajectory-step', { hasText: words });
  await expect(step('Contract {"url":{"equals":"nowhere"}}')).toHaveAttribute('open');
  await expect(page.locator('.trajectory-step[data-at-moment]')).toContainText('Contract');
  await expect(page.locator('.outcome')).toHaveText('1 failure');
  await expect(page.locator('.timeline-bar.script').first()).toBeVisible();
  await expect(page.locator('.timeline-bar.person')).toHaveCount(1);
  await expect(page.locator('#timeline-legend')).toHaveText('ScriptPerson');
  await accessible(page, 'trajectory');
  // Each step shows a picture. Without one, it says why.
  const picture = page.getByAltText('What the page showed at this moment');
  await step("getByText('no such thing')").locator('summary').click();
  await expect(step("getByText('no such thing')")).toContainText('Timeout 300ms exceeded');
  await expect(step("getByText('no such thing')").locator('.step-detail').first()).toContainText(`"locator": "getByText('no such thing')"`);
  await expect(page.locator('main')).not.toContainText('internal:');
  // A step that is marked stands where the others stand.
  const lefts = await page.locator('.trajectory-step > summary > .shape').evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().left)));
  expect(new Set(lefts).size).toBe(1);
  await expect(picture).toHaveAttribute('src', /-after\.png$/);
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1280);
  await step("getByLabel('Password')").locator('summary').click();
  await expect(page.locator('#moment-none')).toHaveText('There is no picture, because a secret field had the focus.');
  await expect(picture).toBeHidden();
  // The address is of the step.
  const seq = new URL(page.url()).hash;
  await page.reload();
  await expect(step("getByLabel('Password')")).toHaveAttribute('open');
  expect(new URL(page.url()).hash).toBe(seq);
  await page.getByRole('slider', { name: 'Moment' }).focus();
  await page.keyboard.press('End');
  await expect(step('Asked for a person: Read the code')).toHaveAttribute('data-at-moment');
  expect(await page.locator('main').innerHTML()).not.toContain('a secret of ours');
  await page.getByRole('tab', { name: 'Steps' }).press('ArrowRight');
  await expect(page.locator('#events-list .event', { hasText: 'said by the page' })).toBeVisible();
  await page.getByRole('tab', { name: 'Events' }).press('ArrowRight');
  await expect(page.locator('#panel-files')).toContainText('session.jsonl');
  await accessible(page, 'files of a trajectory');
  await page.getByRole('button', { name: 'Download' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'A page with pictures' }).click()]);
  expect(file.suggestedFilename()).toBe(`${trajectory}.html`);
  await page.getByRole('link', { name: session.slice(0, 8) }).click();
  await expect(page).toHaveURL(`/sessions/${session}`);
  await request.post(`/v1/sessions/${session}/release`, { headers: auth(), data: {} });
  await page.goto(`/sessions/${session}`);
  await page.getByRole('tab', { name: 'Files' }).click();
  await expect(page.locator('#panel-files').getByRole('link', { name: trajectory })).toBeVisible();
});

test("the trace of a recording opens in Playwright's own viewer", async ({ page, request, baseURL }, info) => {
  const { trajectory } = await record(request, baseURL);
  const trace = await request.get(`/v1/trajectories/${trajectory}/trace.zip`, { headers: auth() });
  expect(trace.status()).toBe(200);
  const file = info.outputPath('trace.zip');
  await writeFile(file, await trace.body());

  const viewer = spawn(process.execPath, [cli, 'show-trace', '--host', '127.0.0.1', '--port', '0', file]);
  try {
    let said = '';
    viewer.stdout.on('data', (text: Buffer) => (said += text.toString()));
    await expect.poll(() => said, { timeout: 20_000 }).toMatch(/http:\/\/\S+/);
    await page.goto(/http:\/\/\S+/.exec(said)?.[0] ?? '');
    const actions = page.getByRole('tabpanel', { name: 'Actions' });
    await expect(actions.getByRole('treeitem', { name: "getByLabel('Password')" })).toBeVisible({ timeout: 20_000 });
    await expect(actions).toContainText('Asked for a person: Read the code');
    await expect(actions).not.toContainText('a secret of ours');
    await expect(page.locator('.film-strip-frame').first()).toBeVisible(); // pictures
    await actions.getByRole('treeitem', { name: "getByText('no such thing')" }).click();
    await page.getByRole('tab', { name: 'Errors' }).click();
    await expect(page.getByRole('tabpanel', { name: 'Errors' })).toContainText('Timeout 300ms exceeded');
    await page.getByRole('tab', { name: 'Console' }).click();
    await expect(page.getByRole('tabpanel', { name: 'Console' })).toContainText('said by the page');
    await page.getByRole('tab', { name: 'Network' }).click();
    await expect(page.getByRole('tabpanel', { name: 'Network' })).toContainText('login');
  } finally {
    viewer.kill();
  }
});
