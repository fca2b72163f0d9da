// Runs the unit tests of the web pages' pure parts (src/**/*.test.ts) with
// node's test runner, bundled by esbuild because node does not read TypeScript.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const src = path.join(path.dirname(fileURLToPath(import.meta.url)), 'src');
const tests = (await readdir(src, { recursive: true })).filter((name) => name.endsWith('.test.ts')).map((name) => path.join(src, name));
const outdir = await mkdtemp(path.join(tmpdir(), 'takeover-static-'));
try {
  await build({ entryPoints: tests, outdir, outExtension: { '.js': '.mjs' }, bundle: true, format: 'esm', platform: 'node', target: 'node20', sourcemap: 'inline', logLevel: 'warning' });
  const built = (await readdir(outdir, { recursive: true })).filter((name) => name.endsWith('.mjs')).map((name) => path.join(outdir, name));
  const { status } = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-reporter=spec', ...built], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  await rm(outdir, { recursive: true });
}
