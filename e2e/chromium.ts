import { existsSync } from 'node:fs';

const SHELL = '/usr/lib/chromium/chromium-headless-shell';

/** Chromium, as people have it. CHROMIUM names another one. */
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** The browser of a person: Chromium's headless shell where there is one, which is Playwright's choice too. A page of it costs a quarter of the processor time. The browsers of sessions are what users get. */
export const PERSONS = process.env.CHROMIUM ?? (existsSync(SHELL) ? SHELL : CHROMIUM);

export const ARGS = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-gpu'];
