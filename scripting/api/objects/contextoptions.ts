// The options of newContext, converted for the operations.

import type { Send } from '../core/call.ts';
import type { BrowserContext, ContextOptions } from './context.ts';
import { refuse } from '../core/errors.ts';
import { readTextFile } from '../core/files.ts';
import { headerLines } from '../net/headers.ts';
import type { State } from './storage.ts';

/** The options that the running test adds to every new context of pages or requests; empty outside tests. */
export const defaults: { options: ContextOptions; prepare(context: BrowserContext): void } = { options: {}, prepare: () => {} };

const recording = 'a session is watched live and its events are recorded';

/** Returns the parameters of browser.newContext. */
export function contextParams(o: ContextOptions): Record<string, unknown> {
  if (o.recordVideo)
    refuse('recordVideo', recording);
  if (o.clientCertificates?.length)
    refuse('clientCertificates', 'this version has none');
  const params: Record<string, unknown> = {
    viewport: o.viewport ?? undefined,
    noViewport: o.viewport === null || undefined,
    screen: o.screen,
    deviceScaleFactor: o.deviceScaleFactor,
    isMobile: o.isMobile,
    hasTouch: o.hasTouch,
    userAgent: o.userAgent,
    locale: o.locale,
    timezoneId: o.timezoneId,
    extraHTTPHeaders: o.extraHTTPHeaders && Object.fromEntries(headerLines(o.extraHTTPHeaders).map(h => [h.name, h.value])),
    geolocation: o.geolocation,
    permissions: o.permissions,
    ...mediaParams(o),
    bypassCSP: o.bypassCSP,
    ignoreHTTPSErrors: o.ignoreHTTPSErrors,
    javaScriptDisabled: o.javaScriptEnabled === false || undefined,
    blockServiceWorkers: o.serviceWorkers === 'block' || undefined,
    refuseDownloads: o.acceptDownloads === false || undefined,
    proxy: o.proxy,
  };
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}

const media = ['media', 'colorScheme', 'reducedMotion', 'forcedColors', 'contrast'] as const;

/** Returns the parameters for emulated media features. A null in the options ends an emulation. */
export function mediaParams(o: object | undefined): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of media) {
    const value = (o as Record<string, string | null | undefined> | undefined)?.[name];
    if (value !== undefined)
      out[name] = value === null ? 'no-override' : value;
  }
  return out;
}

/** Reads a storage state. A path refers to the session's files. */
export async function readState(send: Send, state: string | object): Promise<State> {
  if (typeof state !== 'string')
    return state as State;
  const text = await readTextFile(send, state);
  try {
    return JSON.parse(text) as State;
  } catch (e) {
    throw new Error(`Error reading storage state from ${state}:\n${(e as Error).message}`);
  }
}
