import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { auth } from './remote.js';
import { expect, test } from './test.js';

const cli = join(createRequire(import.meta.url).resolve('playwright-core/package.json'), '../cli.js');

test("the trace of a recording opens in Playwright's own viewer", async ({ page, request, baseURL }, info) => {
  const { id } = await (await request.post('/v1/sessions', { headers: auth(), data: { capture: true } })).json();
  const record = async (data: object): Promise<{ trajectoryBundle: { trajectory_id: string } }> => (await request.post(`/v1/sessions/${id}/recording`, { headers: auth(), data })).json();
  await record({ action: 'start', trajectoryBundle: true });
  const code = `
    await page.goto('${baseURL}/demo/login');
    await page.evaluate(() => console.log('said by the page'));
    await page.getByLabel('Password').fill('a secret of ours');
    await page.getByText('no such thing').click({ timeout: 300 });`;
  await request.post(`/v1/sessions/${id}/scripts`, { headers: auth(), data: { code, wait: true } });
  const asked = await (await request.post(`/v1/sessions/${id}/takeovers`, { headers: auth(), data: { reason: 'Read the code' } })).json();
  await request.post(`/v1/sessions/${id}/takeovers/${asked.id}/fail`, { headers: auth(), data: {} });
  const { trajectoryBundle } = await record({ action: 'stop' });
  const trace = await request.get(`/v1/trajectories/${trajectoryBundle.trajectory_id}/trace.zip`, { headers: auth() });
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
    await expect(actions).toContainText('A person was asked for "Read the code"');
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
  await request.post(`/v1/sessions/${id}/release`, { headers: auth(), data: {} });
});
