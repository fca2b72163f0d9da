import { test as base } from '@playwright/test';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export { devices, expect } from '@playwright/test';
export type { APIRequestContext, Browser, BrowserContext, CDPSession, Download, Locator, Page } from '@playwright/test';

/** How long (ms) a server may take to start and to stop; a busy machine needs a part of it. */
const PATIENCE = 60_000;

/** A server of its own for each worker, so that tests of one worker may end all sessions. */
export interface Server {
  url: string;
  dataDir: string;
}

export const test = base.extend<object, { server: Server }>({
  server: [
    async ({}, use, worker) => {
      const dataDir = mkdtempSync(path.join(tmpdir(), 'takeover-e2e-'));
      const address = `127.0.0.1:${Number(process.env.E2E_PORT) + worker.parallelIndex}`;
      const child = spawn(path.join(import.meta.dirname, '../bin/takeover'), [
        'serve', '--addr', address, '--data-dir', dataDir, '--log-level', 'warn', '--ask-timeout', '5m', '--lease-grace', '10s',
        '--embed-origins', `http://localhost:${process.env.E2E_EMBED_PORT}`,
      ], { env: { ...process.env, TAKEOVER_API_KEY: process.env.E2E_KEY }, stdio: ['ignore', 'pipe', 'inherit'] });
      try {
        await listening(child);
        await use({ url: `http://${address}`, dataDir });
      } finally {
        await ended(child);
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
    { scope: 'worker', timeout: PATIENCE },
  ],
  baseURL: async ({ server }, use) => use(server.url),
});

/** Resolves when the server says that it is ready. */
async function listening(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (text) => String(text).includes('listening on') && resolve());
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} at its start`)));
  });
}

/** Ends the server and its sessions. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}
