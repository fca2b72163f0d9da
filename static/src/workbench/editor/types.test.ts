import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { SCOPE } from './scope.js';

const root = process.cwd();

/** Returns the compiler's errors for a script, with the editor's declarations. */
async function complaints(script: string): Promise<string[]> {
  const { scriptTypes } = (await import(path.join(root, 'static/scripttypes.mjs'))) as { scriptTypes(root: string): Promise<Record<string, string>> };
  const dir = await mkdtemp(path.join(tmpdir(), 'types-'));
  try {
    const files = { ...(await scriptTypes(root)), 'file:///scope.d.ts': SCOPE, 'file:///script.ts': `${script}\nexport {};` };
    for (const [url, text] of Object.entries(files)) {
      const file = path.join(dir, url.slice('file:///'.length));
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const options = { target: 'esnext', module: 'esnext', moduleResolution: 'bundler', lib: ['esnext', 'dom'], strict: true, noEmit: true, types: [] };
    await writeFile(path.join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['scope.d.ts', 'script.ts'] }));
    const { stdout } = await promisify(execFile)(path.join(root, 'node_modules/.bin/tsc'), ['-p', dir]).catch((error: { stdout: string }) => error);
    return stdout.split('\n').filter((line) => /(?:script|scope\.d)\.ts\(/.test(line));
  } finally {
    await rm(dir, { recursive: true });
  }
}

test('the editor knows what a script has', async () => {
  assert.deepEqual(
    await complaints(`
      await page.goto('https://example.com');
      const name: string | null = await page.getByRole('heading', { name: /x/ }).first().textContent();
      await context.newPage();
      await page.waitForSettled({ timeout: 1000 });
      const { note } = await requestTakeover('Log in', { until: '**/home', timeout: 1000 });
      console.log(name, note, args.anything, Buffer.from('x').toString('base64'));
      const { chromium } = require('playwright');
      chromium.name();
    `),
    [],
  );
});

test('the editor offers nothing that a script does not have', async () => {
  const found = await complaints(`page.video();\nimport fs from 'fs';\npage.goTo('x');`);
  assert.equal(found.length, 3, found.join('\n'));
  assert.match(found[0] ?? '', /script\.ts\(1,6\).*'video' does not exist/);
  assert.match(found[1] ?? '', /script\.ts\(2,16\).*Cannot find name 'fs'/);
  assert.match(found[2] ?? '', /script\.ts\(3,6\).*'goTo' does not exist/);
});
