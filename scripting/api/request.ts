import type * as pw from 'playwright-core';
import { defaultTimeout, type Send, step } from './call.ts';
import { refuse, TargetClosedError } from './errors.ts';
import { host } from './host.ts';
import { formBytes, isBuffer, multipart, utf8, type Field } from './payload.ts';
import { hide } from './object.ts';
import { quote } from './selectors.ts';
import { buffer } from './values.ts';

/** A header line. */
export interface Header { name: string; value: string }

/** What api.fetch answers. */
export interface ResponseInit {
  url: string;
  status: number;
  statusText: string;
  headers: Header[];
  serverAddr: { ipAddress: string; port: number } | null;
  securityDetails: object | null;
  timing: Record<string, number>;
  log?: string[];
  /** base64; of large ones the id, for api.body. */
  body?: string;
  response?: string;
}

type FetchOptions = NonNullable<Parameters<pw.APIRequestContext['fetch']>[1]>;
type Cookie = Awaited<ReturnType<pw.APIRequestContext['cookies']>>[number];
type NewCookie = Parameters<pw.APIRequestContext['addCookies']>[0][number];
type State = Awaited<ReturnType<pw.APIRequestContext['storageState']>>;

/** What a request that stands for another one is asked for (route.fetch, fetch(request)). */
export interface RequestLike {
  url(): string;
  method(): string;
  headers(): Record<string, string>;
  postDataBuffer(): unknown;
}

/** Where the requests of a context get their cookies and defaults from. */
export interface RequestSource {
  /** Parameters that name it for the server: {context} or {request}. */
  id: object;
  /** The operations that its cookies are reached with begin with this. */
  verb: 'context' | 'api';
  baseURL(): string | undefined;
  /** Further parameters of api.fetch. */
  defaults(): Partial<FetchDefaults>;
  timeout(): number;
  storageState(send: Send, options: object | undefined): Promise<State>;
  /** Why no more requests are made, once it is over. */
  closed(): string | undefined;
}

/** What a context says about all of its requests. */
export interface FetchDefaults {
  failOnStatusCode: boolean;
  ignoreHTTPSErrors: boolean;
  maxRedirects: number;
  credentials: object[];
}

/** Requests outside the pages, with the cookies of a context. */
export class APIRequestContext {
  /** @internal */
  readonly _source: RequestSource;
  #disposed: string | undefined;

  constructor(source: RequestSource) {
    this._source = source;
    hide(this, '_source');
  }

  get(url: string, options?: FetchOptions): Promise<APIResponse> { return this.#fetch('get', url, options, 'GET'); }
  post(url: string, options?: FetchOptions): Promise<APIResponse> { return this.#fetch('post', url, options, 'POST'); }
  put(url: string, options?: FetchOptions): Promise<APIResponse> { return this.#fetch('put', url, options, 'PUT'); }
  patch(url: string, options?: FetchOptions): Promise<APIResponse> { return this.#fetch('patch', url, options, 'PATCH'); }
  delete(url: string, options?: FetchOptions): Promise<APIResponse> { return this.#fetch('delete', url, options, 'DELETE'); }
  head(url: string, options?: FetchOptions): Promise<APIResponse> { return this.#fetch('head', url, options, 'HEAD'); }
  fetch(urlOrRequest: string | RequestLike, options?: FetchOptions): Promise<APIResponse> {
    return this.#fetch('fetch', urlOrRequest, options, undefined);
  }

  cookies(urls?: string | readonly string[]): Promise<Cookie[]> {
    return this.#step('cookies', async send => (await send<{ cookies: Cookie[] }>(`${this._source.verb}.cookies`, { ...this._source.id, urls: list(urls) })).cookies);
  }
  addCookies(cookies: readonly NewCookie[]): Promise<void> {
    return this.#step('addCookies', async send => { await send(`${this._source.verb}.addCookies`, { ...this._source.id, cookies: checkedCookies(cookies) }); });
  }
  clearCookies(options?: CookieFilter): Promise<void> {
    return this.#step('clearCookies', send => clearCookies(send, this._source, options));
  }
  storageState(options?: { indexedDB?: boolean; opfs?: boolean; path?: string }): Promise<State> {
    return this.#step('storageState', send => this._source.storageState(send, options));
  }

  /** Ends the context; what its responses hold is gone with it. */
  async dispose(options?: { reason?: string }): Promise<void> {
    if (this.#disposed !== undefined)
      return;
    const over = this.#step('dispose', async send => { await (this._source.verb === 'api' && send('api.dispose', this._source.id)); });
    this.#disposed = options?.reason ?? '';
    await over;
  }
  async [Symbol.asyncDispose](): Promise<void> { await this.dispose(); }

  get tracing(): never { return refuse('apiRequestContext.tracing', 'requests of this version are not traced'); }

  #step<T>(method: string, body: (send: Send) => Promise<T>): Promise<T> {
    return step(`apiRequestContext.${method}`, () => `request.${method}()`, send => {
      this.#check();
      return body(send);
    });
  }

  #check(): void {
    const reason = this.#disposed ?? this._source.closed();
    if (reason !== undefined)
      throw new TargetClosedError(reason || undefined);
  }

  #fetch(name: string, urlOrRequest: string | RequestLike, options: FetchOptions | undefined, method: string | undefined): Promise<APIResponse> {
    return step(`apiRequestContext.${name}`, () => `request.${name}(${quote(typeof urlOrRequest === 'string' ? urlOrRequest : urlOrRequest?.url?.())})`, send => {
      this.#check();
      return this._fetch(send, urlOrRequest, method ? { ...options, method } : options ?? {});
    }, options);
  }

  /** Makes a request within a step; route.fetch does, too. @internal */
  async _fetch(send: Send, urlOrRequest: string | RequestLike, options: FetchOptions): Promise<APIResponse> {
    const request = typeof urlOrRequest === 'object' && urlOrRequest !== null ? urlOrRequest : undefined;
    const url = request ? request.url() : urlOrRequest;
    if (typeof url !== 'string')
      throw new Error('First argument must be either URL string or Request');
    checkOptions(options);
    const defaults = this._source.defaults();
    const headers = options.headers ?? request?.headers();
    const lines = headerLines(headers);
    const { body, contentType } = await payload(options, lines, request);
    if (contentType && !lines.some(h => h.name.toLowerCase() === 'content-type'))
      lines.push({ name: 'content-type', value: contentType });
    if (body && !lines.some(h => h.name.toLowerCase() === 'content-length'))
      lines.push({ name: 'content-length', value: String(body.length) });
    const answer = await send<ResponseInit>('api.fetch', {
      ...this._source.id,
      ...defaults,
      url: absoluteURL(url, this._source.baseURL(), options.params),
      method: (options.method ?? request?.method() ?? 'GET').toUpperCase(),
      headers: lines,
      ...body && { body: host.toBase64(body.buffer as ArrayBuffer, body.byteOffset, body.byteOffset + body.length) },
      timeout: options.timeout ?? this._source.timeout(),
      ...given({ failOnStatusCode: options.failOnStatusCode, maxRedirects: options.maxRedirects, maxRetries: options.maxRetries }),
      ignoreHTTPSErrors: !!(options.ignoreHTTPSErrors || defaults.ignoreHTTPSErrors),
    });
    return new APIResponse(this, answer);
  }
}

/** The answer to a request outside the pages. */
export class APIResponse {
  #context: APIRequestContext;
  #init: ResponseInit;
  #headers: Record<string, string> = {};
  #disposed = false;

  constructor(context: APIRequestContext, init: ResponseInit) {
    this.#context = context;
    this.#init = init;
    for (const { name, value } of init.headers) {
      const key = name.toLowerCase();
      const known = this.#headers[key];
      this.#headers[key] = known === undefined ? value : known + (key === 'set-cookie' ? '\n' : ', ') + value;
    }
  }

  url(): string { return this.#init.url; }
  status(): number { return this.#init.status; }
  statusText(): string { return this.#init.statusText; }
  ok(): boolean { return this.#init.status >= 200 && this.#init.status <= 299; }
  headers(): Record<string, string> { return { ...this.#headers }; }
  headersArray(): Header[] { return this.#init.headers.map(h => ({ ...h })); }
  async securityDetails(): Promise<any> { return this.#init.securityDetails ?? null; }
  async serverAddr(): Promise<{ ipAddress: string; port: number } | null> { return this.#init.serverAddr ?? null; }
  timing(): any { return { ...this.#init.timing }; }

  body(): Promise<any> { return this.#read('body', buffer); }
  text(): Promise<string> { return this.#read('text', decoded); }
  async json(): Promise<any> { return JSON.parse(await this.#read('json', decoded)); }

  async dispose(): Promise<void> {
    this.#disposed = true;
    const { response } = this.#init;
    delete this.#init.body;
    if (response)
      await step('apiResponse.dispose', () => 'response.dispose()', send => send<void>('api.disposeResponse', { response }));
  }
  async [Symbol.asyncDispose](): Promise<void> { await this.dispose(); }

  /** The body as base64. @internal */
  async _base64(send: Send): Promise<string> {
    if (this.#disposed || this.#context._source.closed() !== undefined)
      throw new Error('Response has been disposed');
    return this.#init.body ?? (await send<{ body: string }>('api.body', { response: this.#init.response })).body;
  }

  /** What was done to get it, for expect(response).toBeOK(). @internal */
  _fetchLog(): string[] { return this.#init.log ?? []; }

  /** @internal */
  _inspect(): string { return `APIResponse: ${this.status()} ${this.statusText()}\n${this.#init.headers.map(h => `  ${h.name}: ${h.value}`).join('\n')}`; }

  #read<T>(method: string, as: (base64: string) => T): Promise<T> {
    return step(`apiResponse.${method}`, () => `response.${method}()`, async send => as(await this._base64(send)));
  }
}

function decoded(base64: string): string {
  const bytes = host.fromBase64(base64) ?? new ArrayBuffer(0);
  return host.decode(bytes, 0, bytes.byteLength, false);
}

/** What clearCookies takes. */
export interface CookieFilter { name?: string | RegExp; domain?: string | RegExp; path?: string | RegExp }

/** Takes away the cookies that match; all without a filter. */
export async function clearCookies(send: Send, source: Pick<RequestSource, 'id' | 'verb'>, filter: CookieFilter | undefined): Promise<void> {
  let gone: Cookie[] | undefined;
  if (filter && (filter.name !== undefined || filter.domain !== undefined || filter.path !== undefined)) {
    const { cookies } = await send<{ cookies: Cookie[] }>(`${source.verb}.cookies`, source.id);
    gone = cookies.filter(c => matches(c.name, filter.name) && matches(c.domain, filter.domain) && matches(c.path, filter.path));
  }
  await send(`${source.verb}.clearCookies`, { ...source.id, ...gone && { cookies: gone } });
}

function matches(text: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined || typeof wanted === 'string')
    return wanted === undefined || wanted === text;
  wanted.lastIndex = 0;
  return wanted.test(text);
}

/** Refuses cookies with wrong types, in Playwright's words. */
export function checkedCookies(cookies: readonly NewCookie[]): object[] {
  if (!Array.isArray(cookies))
    throw new Error(`cookies: expected array, got ${kind(cookies)}`);
  const fields: Record<string, string> = { name: 'string', value: 'string', url: 'string', domain: 'string', path: 'string', expires: 'number', httpOnly: 'boolean', secure: 'boolean', sameSite: 'string', partitionKey: 'string' };
  return cookies.map((cookie, i) => {
    const out: Record<string, unknown> = {};
    for (const [name, type] of Object.entries(fields)) {
      const value = (cookie as unknown as Record<string, unknown>)[name];
      if (value === undefined && name !== 'name' && name !== 'value')
        continue;
      if (typeof value !== type)
        throw new Error(`cookies[${i}].${name}: expected ${type}, got ${kind(value)}`);
      out[name] = value;
    }
    const { sameSite } = cookie;
    if (sameSite !== undefined && !['Strict', 'Lax', 'None'].includes(sameSite))
      throw new Error(`cookies[${i}].sameSite: expected one of (Strict|Lax|None)`);
    return out;
  });
}

function kind(value: unknown): string { return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value; }

/** One URL, or some, as a list. */
export function list(urls: string | readonly string[] | undefined): readonly string[] {
  return urls === undefined ? [] : typeof urls === 'string' ? [urls] : urls;
}

function checkOptions(o: FetchOptions): void {
  if (Number(o.data !== undefined) + Number(o.form !== undefined) + Number(o.multipart !== undefined) > 1)
    throw new Error(`Only one of 'data', 'form' or 'multipart' can be specified`);
  for (const name of ['maxRedirects', 'maxRetries'] as const) {
    const value = o[name];
    if (value !== undefined && !(value >= 0))
      throw new Error(`'${name}' must be greater than or equal to '0'`);
  }
}

/** Headers of an object as lines; values that are undefined are left out. */
export function headerLines(headers: Record<string, string> | undefined): Header[] {
  const lines = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined).map(([name, value]) => ({ name, value }));
  lines.forEach(({ value }, i) => {
    if (typeof value !== 'string')
      throw new Error(`headers[${i}].value: expected string, got ${kind(value)}`);
  });
  return lines;
}

function absoluteURL(url: string, base: string | undefined, params: FetchOptions['params']): string {
  let full: URL;
  try {
    full = new URL(url, base || undefined);
  } catch {
    throw new TypeError('Invalid URL');
  }
  if (params === undefined || params === null)
    return full.href;
  if (typeof params === 'object' && !('append' in params)) {
    for (const [name, value] of Object.entries(params)) {
      if (value !== undefined)
        full.searchParams.append(name, String(value));
    }
    return full.href;
  }
  const encoded = String(params).replace(/^\?/, '');
  if (encoded)
    full.search = full.search ? `${full.search}&${encoded}` : encoded;
  return full.href;
}

function hasJSONType(headers: Header[]): boolean {
  const type = headers.find(h => h.name.toLowerCase() === 'content-type');
  return type?.value.split(';')[0]!.trim().toLowerCase() === 'application/json';
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Payload { body?: Uint8Array; contentType?: string }

/** The body that the options ask for, and the content type it has unless a header says otherwise. */
async function payload(o: FetchOptions, headers: Header[], request: RequestLike | undefined): Promise<Payload> {
  const json = (text: string) => ({ body: utf8(text), contentType: 'application/json' });
  const { data } = o;
  if (data !== undefined) {
    if (typeof data === 'string') {
      if (hasJSONType(headers))
        return json(isJSON(data) ? data : JSON.stringify(data));
      return { body: utf8(data), contentType: 'application/octet-stream' };
    }
    if (isBuffer(data))
      return { body: data, contentType: 'application/octet-stream' };
    if (typeof data === 'object' || typeof data === 'number' || typeof data === 'boolean')
      return json(JSON.stringify(data));
    throw new Error(`Unexpected 'data' type`);
  }
  if (o.form)
    return { body: formBytes(o.form), contentType: 'application/x-www-form-urlencoded' };
  if (o.multipart)
    return multipart(await fields(o.multipart));
  const posted = request?.postDataBuffer();
  return isBuffer(posted) ? { body: posted, contentType: 'application/octet-stream' } : {};
}

async function fields(form: object): Promise<Field[]> {
  const entries = 'append' in form && 'entries' in form ? [...(form as FormData).entries()] : Object.entries(form) as [string, unknown][];
  const out: Field[] = [];
  for (const [name, value] of entries) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      out.push({ name, value: String(value) });
    } else if (typeof (value as Blob)?.arrayBuffer === 'function') {
      const file = value as File;
      out.push({ name, file: { name: file.name, mimeType: file.type, buffer: new Uint8Array(await file.arrayBuffer()) } });
    } else {
      const file = value as { name?: string; mimeType?: string; buffer?: unknown } | null | undefined;
      if (!file?.name || !file.mimeType || !file.buffer)
        return refuse(`options.multipart[${quote(name)}]`, 'scripts have no streams of files; pass { name, mimeType, buffer }');
      if (!isBuffer(file.buffer))
        throw new Error(`Unexpected buffer type of 'data.${name}'`);
      out.push({ name, file: { name: file.name, mimeType: file.mimeType, buffer: file.buffer } });
    }
  }
  return out;
}

function given(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

type NewContextOptions = NonNullable<Parameters<pw.APIRequest['newContext']>[0]>;

/** Makes contexts of requests that share nothing with the browser. */
export class APIRequest {
  newContext(options: NewContextOptions = {}): Promise<APIRequestContext> {
    return step('apiRequest.newContext', () => 'request.newContext()', send => newContext(send, options));
  }
}

async function newContext(send: Send, o: NewContextOptions): Promise<APIRequestContext> {
  if (typeof o.storageState === 'string')
    refuse('storageState', 'scripts have no files of the server; pass the object');
  if (o.clientCertificates?.length)
    refuse('clientCertificates', 'this version has none');
  const state = o.storageState as State | undefined;
  const { request } = await send<{ request: string }>('api.newContext', {
    userAgent: o.userAgent ?? 'Takeover/1',
    headers: headerLines(o.extraHTTPHeaders),
    ignoreHTTPSErrors: !!o.ignoreHTTPSErrors,
    credentials: credentialList(o.httpCredentials),
    ...o.proxy && { proxy: { ...o.proxy } },
    cookies: state?.cookies ?? [],
  });
  return new APIRequestContext({
    id: { request },
    verb: 'api',
    baseURL: () => o.baseURL,
    defaults: () => given({ failOnStatusCode: o.failOnStatusCode, maxRedirects: o.maxRedirects }),
    timeout: () => o.timeout ?? defaultTimeout,
    storageState: async sendState => ({ ...await sendState<{ cookies: Cookie[] }>('api.cookies', { request }), origins: state?.origins ?? [] }),
    closed: () => undefined,
  });
}

/** Credentials as the operations take them. */
export function credentialList(known: unknown): object[] {
  if (!known)
    return [];
  const all = (Array.isArray(known) ? known : [known]) as { username: string; password: string; origin?: string; send?: string }[];
  return all.map(({ username, password, origin, send }) => ({ username, password, ...origin && { origin }, ...send === 'always' && { always: true } }));
}
