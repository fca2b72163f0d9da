// Compiles only with the types of clients/typescript/*.d.ts. It never runs.
import type { CDPSession as PlaywrightSession } from 'playwright-core';
import type { CDPSession as PuppeteerSession } from 'puppeteer-core';
import type { Takeover } from '../../../clients/typescript/people.ts';

export async function typed(playwright: PlaywrightSession, puppeteer: PuppeteerSession): Promise<[Takeover, Takeover]> {
  const links: string[] = [];
  playwright.on('Takeover.requested', ({ url }) => links.push(url)).once('Takeover.requested', ({ id }) => links.push(id));
  puppeteer.on('Takeover.requested', ({ url }) => links.push(url));
  await playwright.send('Page.enable');
  await puppeteer.send('Page.enable');
  // @ts-expect-error The reason is required.
  await puppeteer.send('Takeover.request', { note: 'a note' });
  // @ts-expect-error There is no such parameter.
  await playwright.send('Takeover.request', { reason: 'a reason', because: 'another' });
  return [await playwright.send('Takeover.request', { reason: 'a reason', timeout: 1000 }), await puppeteer.send('Takeover.request', { reason: 'a reason', until: '#done' })];
}
