// The reference run: runs the same cases with the real Playwright, to show that they describe its behaviour.
import { defineConfig } from '@playwright/test';
import path from 'node:path';

process.env.CONFORMANCE_PORT ??= String(20_000 + (process.pid % 20_000));
const root = path.dirname(import.meta.dirname);
const baseURL = `http://127.0.0.1:${process.env.CONFORMANCE_PORT}`;

export default defineConfig({
  testDir: '.',
  outputDir: path.join(root, 'test-results'),
  workers: 2,
  retries: 0,
  timeout: 20_000,
  reporter: [['dot']],
  use: {
    baseURL,
    launchOptions: {
      executablePath: process.env.TAKEOVER_CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-gpu'],
    },
  },
  webServer: {
    command: `go run ./conformance/serve --addr 127.0.0.1:${process.env.CONFORMANCE_PORT}`,
    cwd: root,
    url: `${baseURL}/empty`,
    timeout: 120_000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5_000 },
  },
});
