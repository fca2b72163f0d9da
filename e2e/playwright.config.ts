import { defineConfig } from '@playwright/test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// The configuration is read again in each worker: what the first reading chose
// is handed on in the environment.
process.env.E2E_PORT ??= String(20_000 + (process.pid % 20_000));
process.env.E2E_EMBED_PORT ??= String(Number(process.env.E2E_PORT) + 20_000);
process.env.E2E_DATA ??= mkdtempSync(path.join(tmpdir(), 'takeover-e2e-'));
process.env.E2E_KEY ??= `e2e-${process.pid}-${Date.now()}`;

const root = path.dirname(import.meta.dirname);

export default defineConfig({
  testDir: '.',
  outputDir: path.join(root, 'test-results'),
  globalTeardown: './teardown.ts',
  workers: 1,
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: {
    baseURL: `http://127.0.0.1:${process.env.E2E_PORT}`,
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-gpu'],
    },
  },
  webServer: {
    command: `${path.join(root, 'bin/takeover')} serve --addr 127.0.0.1:${process.env.E2E_PORT} --data-dir ${process.env.E2E_DATA} --log-level warn --ask-timeout 5m --lease-grace 10s --embed-origins http://localhost:${process.env.E2E_EMBED_PORT}`,
    url: `http://127.0.0.1:${process.env.E2E_PORT}/readyz`,
    env: { TAKEOVER_API_KEY: process.env.E2E_KEY },
    gracefulShutdown: { signal: 'SIGTERM', timeout: 15_000 },
    stdout: 'pipe',
    stderr: 'pipe',
  },
});
