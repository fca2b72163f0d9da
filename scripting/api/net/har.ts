import type { APIResponse } from './apiresponse.ts';
import { muted, type Send } from '../core/call.ts';
import { readFile, readZipped } from '../core/files.ts';
import { type Header, Headers } from './headers.ts';
import { postBuffer } from './network.ts';
import type { Handler, Route } from './route.ts';
import { buffer, utf8 } from '../core/values.ts';

/** The options of routeFromHAR. */
export interface HarOptions { url?: string | RegExp; notFound?: 'abort' | 'fallback'; update?: boolean; updateContent?: 'embed' | 'attach'; updateMode?: 'full' | 'minimal' }

/** A recorded body: text, or the name of its file. */
interface Body { text?: string; encoding?: string; _file?: string }

/** The parts of a recorded request that are needed for replaying it. */
interface Entry {
  request: { method: string; url: string; headers?: Header[]; postData?: Body };
  response: { status: number; headers?: Header[]; content?: Body };
}

/** The keys by which a request is looked up. */
interface Asked { url: string; method: string; headers: Headers; body: Uint8Array | null }

/** The recorded response to a request, after its redirects. */
interface Found { response: Entry['response']; body: Uint8Array; url: string; method: string; redirected: boolean }

const redirects = new Set([301, 302, 303, 307, 308]);

/** The status in HAR files for a request without a response. */
const unanswered = -1;

/** Returns the bytes of a file that an entry names. */
type Read = (name: string) => Promise<Uint8Array>;

/** Creates a route handler that responds from a HAR file of the session, or from one in a .zip. */
export async function harHandler(send: Send, path: string, { notFound }: HarOptions): Promise<Handler> {
  const zipped = path.endsWith('.zip');
  const read: Read = name => zipped ? readZipped(send, path, name) : readFile(send, name);
  const har = JSON.parse(utf8(zipped ? await readZipped(send, path, '*.har') : await readFile(send, path))) as { log?: { entries?: Entry[] } };
  const entries = har.log?.entries ?? [];
  const handler = async (route: Route): Promise<void> => {
    const request = route.request();
    const method = request.method();
    const asked = { url: request.url(), method, headers: new Headers(headersOf(request.headers())), body: request.postDataBuffer() };
    // An unreadable entry counts as missing.
    const found = await find(read, entries, asked).catch(() => null);
    if (!found)
      await muted(() => notFound === 'fallback' ? route.fallback() : route.abort());
    else if (found.response.status === unanswered)
      route._wait();
    else if (found.redirected && request.isNavigationRequest())
      await muted(() => route._lead(found.method === method ? 307 : 303, found.url));
    else
      await fulfill(route, found);
  };
  return handler as unknown as Handler;
}

function fulfill(route: Route, { response: { status, headers = [] }, body }: Found): Promise<void> {
  const response: Pick<APIResponse, 'status' | 'headersArray' | 'body'> = { status: () => status || 200, headersArray: () => headers, body: async () => body };
  return muted(() => route.fulfill({ response: response as any }));
}

function headersOf(map: Record<string, string>): Header[] { return Object.entries(map).map(([name, value]) => ({ name, value })); }

/** Looks up a request and follows recorded redirects. Returns null if they lead nowhere. */
async function find(read: Read, entries: readonly Entry[], asked: Asked): Promise<Found | null> {
  let { url, method, body } = asked;
  const seen = new Set<Entry>();
  for (;;) {
    const entry = await best(read, entries, { ...asked, url: url.replace(/#.*/, ''), method, body });
    if (!entry || seen.has(entry))
      return null;
    seen.add(entry);
    const { status, headers = [], content = {} } = entry.response;
    const to = new Headers(headers).get('location');
    if (to === null || !redirects.has(status))
      return { response: entry.response, body: await bytes(read, content), url, method, redirected: seen.size > 1 };
    url = new URL(to, url).href;
    if (method === 'POST' && status <= 302 || status === 303 && method !== 'HEAD') {
      method = 'GET';
      body = null;
    }
  }
}

/** Finds the entry with the same URL, method and body. Of several, it takes the first with the most headers in common. */
async function best(read: Read, entries: readonly Entry[], asked: Asked): Promise<Entry | undefined> {
  let chosen: Entry | undefined;
  let most = -1;
  for (const entry of entries) {
    const { url, method, headers = [], postData } = entry.request;
    if (url !== asked.url || method !== asked.method || postData && asked.body && !sameBody(asked, await bytes(read, postData), new Headers(headers)))
      continue;
    const shared = headers.filter(h => asked.headers.values(h.name).includes(h.value)).length;
    if (shared > most) {
      chosen = entry;
      most = shared;
    }
  }
  return chosen;
}

// Compares bodies. Browsers generate a new boundary for each form.
function sameBody({ headers, body }: Asked, recorded: Uint8Array, recordedHeaders: Headers): boolean {
  const [now, then] = [boundaryOf(headers), boundaryOf(recordedHeaders)];
  const text = latin1(body!);
  return latin1(recorded) === (now && then ? text.replaceAll(now, then) : text);
}

function boundaryOf(headers: Headers): string | undefined {
  return /^multipart\/form-data\s*;.*\bboundary="?([^";]+)/i.exec(headers.get('content-type') ?? '')?.[1];
}

function latin1(data: Uint8Array): string { return (data as any).toString('latin1'); }

async function bytes(read: Read, { text = '', encoding, _file }: Body): Promise<Uint8Array> {
  if (_file !== undefined)
    return read(_file);
  return encoding === 'base64' ? buffer(text) as Uint8Array : postBuffer(text);
}
