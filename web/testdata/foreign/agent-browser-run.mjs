// Runs commands of agent-browser, unmodified, in a session.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const program = path.join(path.dirname(createRequire(import.meta.url).resolve('agent-browser/package.json')), 'bin/agent-browser.js');

/**
 * Returns what runs one command by the socket's address, and what ends agent-browser. Both
 * return what it printed, also its warnings. `dir` is a folder for its files.
 */
export async function agentBrowser(endpoint) {
  const dir = await mkdtemp(path.join(tmpdir(), 'ab')); // a short path: it contains a socket
  const env = { ...process.env, HOME: dir, AGENT_BROWSER_SOCKET_DIR: dir, AGENT_BROWSER_IDLE_TIMEOUT_MS: '30000' };
  const run = async (...args) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, '--session', 'test', '--cdp', endpoint, ...args], { env, timeout: 30_000 });
    return (stdout + stderr).trim();
  };
  const close = async () => {
    const said = await run('close');
    await rm(dir, { recursive: true, force: true });
    return said;
  };
  return { dir, run, close };
}
