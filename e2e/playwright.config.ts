import { defineConfig } from '@playwright/test';
import path from 'node:path';

// Each worker reads the configuration again, so the first reading passes its
// choices on in the environment.
process.env.E2E_PORT ??= String(20_000 + (process.pid % 20_000));
process.env.E2E_EMBED_PORT ??= String(Number(process.env.E2E_PORT) + 20_000);
process.env.E2E_KEY ??= `e2e-${process.pid}-${Date.now()}`;

const root = path.dirname(import.meta.dirname);

export default defineConfig({
  testDir: '.',
  outputDir: path.join(root, 'test-results'),
  workers: 1, // each has a server of its own (test.ts), but two at once keep two cores busy, and were not faster
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-gpu'],
    },
  },
});
