import { test as base } from '@playwright/test';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export { chromium, devices, expect } from '@playwright/test';
export type { APIRequestContext, Browser, BrowserContext, CDPSession, Download, Locator, Page } from '@playwright/test';

/** How long (ms) a server may take to start and to stop. Even a busy machine needs only part of it. */
const PATIENCE = 60_000;

/** Encrypts the profiles of the servers of the tests. */
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

/** The server of one worker. Each worker has its own, so that its tests may end all sessions. */
export interface Server {
  url: string;
  dataDir: string;
}

export const test = base.extend<{ editor: boolean }, { server: Server }>({
  // Monaco takes two thirds of the processor time in which the page of a session loads. Tests that are not about it ask, as somebody who saves data does, for the text field.
  editor: [false, { option: true }],
  context: async ({ context, editor }, use) => {
    if (!editor) await context.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }));
    await use(context);
  },
  server: [
    async ({}, use, worker) => {
      const own = await serve(Number(process.env.E2E_PORT) + worker.parallelIndex, ['--ask-timeout', '5m', '--lease-grace', '10s', '--allowed-origins', 'devtools://devtools']);
      try {
        await use(own);
      } finally {
        await own.close();
      }
    },
    { scope: 'worker', timeout: PATIENCE },
  ],
  baseURL: async ({ server }, use) => use(server.url),
});

/** Starts a server on a port of this machine, with additional flags. */
export async function serve(port: number, flags: string[]): Promise<Server & { close(): Promise<void> }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'takeover-e2e-'));
  const address = `127.0.0.1:${port}`;
  const child = spawn(path.join(import.meta.dirname, '../bin/takeover'), [
    'serve', '--addr', address, '--data-dir', dataDir, '--log-level', 'warn', '--capture', 'console,network,navigation', '--allow-networks', '127.0.0.0/8,::1', '--embed-origins', `http://localhost:${process.env.E2E_EMBED_PORT}`, ...flags,
  ], { env: { ...process.env, TAKEOVER_API_KEY: process.env.E2E_KEY, TAKEOVER_SECRET_KEY: SECRET_KEY }, stdio: ['ignore', 'pipe', 'inherit'] });
  const close = async (): Promise<void> => {
    await ended(child);
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await listening(child);
  } catch (failed) {
    await close();
    throw failed;
  }
  return { url: `http://${address}`, dataDir, close };
}

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
  child.kill('SIGINT');
  await exit;
}
