import { devices, expect, test, type Page } from '../../e2e/test.js';
import { codeOnPhone, explore, Fingers, hasPicture, newSession, signIn, signInByHand } from '../../e2e/remote.js';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Makes docs/images/takeover.webp, the moving picture of the README: an operator's page on the left, a helper's phone on the right. */

const OUTPUT = path.join(import.meta.dirname, '../../docs/images/takeover.webp');

/** How long (ms) each scene is shown. */
const SCENE = 1400;

test.use({ viewport: { width: 1280, height: 800 }, permissions: ['clipboard-read', 'clipboard-write'], colorScheme: 'light' });

test('the picture of the README', async ({ page, browser, request }) => {
  const stage = await (await browser.newContext({ viewport: { width: 1196, height: 580 } })).newPage();
  const places = await explore(await (await browser.newContext()).newPage());
  const folder = mkdtempSync(path.join(tmpdir(), 'takeover-picture-'));
  const scenes: string[] = [];
  let phone: Page | undefined;

  const scene = async (): Promise<void> => {
    const left = (await page.screenshot()).toString('base64');
    const right = phone ? (await phone.screenshot()).toString('base64') : '';
    await stage.setContent(`<style>
        body { margin: 0; display: flex; gap: 16px; padding: 10px; background: #e9ecf2; }
        img { border-radius: 8px; box-shadow: 0 1px 6px #0003; } .left { height: 560px } .right { height: 560px; margin-left: auto }
      </style><img class="left" src="data:image/png;base64,${left}">${right && `<img class="right" src="data:image/png;base64,${right}">`}`);
    const file = path.join(folder, `${String(scenes.length).padStart(2, '0')}.png`);
    writeFileSync(file, await stage.screenshot());
    scenes.push(file);
  };

  await signIn(page);
  const session = await newSession(page);
  await expect(page.locator('.monaco-editor .view-lines')).toContainText('requestTakeover');
  await scene();
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('#banner')).toBeVisible();
  await scene();

  const inbox = await page.context().newPage();
  await inbox.goto('/');
  await inbox.getByRole('button', { name: 'Copy link' }).click();
  await expect(inbox.getByText('Link copied')).toBeVisible();
  const link = await inbox.evaluate(() => navigator.clipboard.readText());
  await inbox.close();

  const context = await browser.newContext({ ...devices['iPhone 13'], defaultBrowserType: undefined, viewport: { width: 390, height: 844 }, deviceScaleFactor: 1 } as object);
  phone = await context.newPage();
  await phone.goto(link);
  await hasPicture(phone);
  await expect(phone.locator('#control-words')).toHaveText('You are in control');
  await scene();
  const fingers = await Fingers.on(phone);
  await signInByHand(fingers, places, () => codeOnPhone(request, session), scene);
  await phone.getByRole('button', { name: 'Done' }).click();
  await expect(phone.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await expect(page.locator('#output-words')).toHaveText('Succeeded');
  await scene();
  await scene();

  execFileSync('img2webp', ['-loop', '0', '-lossy', '-q', '72', '-m', '6', '-d', String(SCENE), ...scenes, '-o', OUTPUT]);
});
