import { defineConfig } from '@playwright/test';
import path from 'node:path';
import { ARGS, PERSONS } from './chromium.js';

// Each worker reads the configuration again, so the first reading passes its
// choices on in the environment. Linux gives outgoing connections ports from 32,768 on.
process.env.E2E_PORT ??= String(20_000 + (process.pid % 4_000));
process.env.E2E_EMBED_PORT ??= String(Number(process.env.E2E_PORT) + 8_000);
process.env.E2E_KEY ??= `e2e-${process.pid}-${Date.now()}`;

const root = path.dirname(import.meta.dirname);

export default defineConfig({
  testDir: '.',
  outputDir: path.join(root, 'test-results'),
  workers: 1, // each has a server of its own (test.ts), but two at once keep two cores busy, and were not faster
  retries: 0,
  timeout: 240_000,
  expect: { timeout: 30_000 },
  reporter: [['list']],
  use: {
    screenshot: 'only-on-failure',
    launchOptions: { executablePath: PERSONS, args: ARGS },
  },
});
