import type * as pw from 'playwright-core';
import { APIResponse, type ResponseInit } from './apiresponse.ts';
import { defaultTimeout, type Send, step } from '../core/call.ts';
import { defaults } from '../objects/contextoptions.ts';
import { checkedCookies, clearCookies, type Cookie, type CookieFilter, list, type NewCookie } from './cookies.ts';
import { refuse, TargetClosedError } from '../core/errors.ts';
import { headerLines } from './headers.ts';
import { host } from '../core/host.ts';
import { hide } from '../objects/object.ts';
import { absoluteURL, payload } from './requestbody.ts';
import { quote } from '../core/selectors.ts';

/** The options of a request. */
export type FetchOptions = NonNullable<Parameters<pw.APIRequestContext['fetch']>[1]>;
type State = Awaited<ReturnType<pw.APIRequestContext['storageState']>>;

/** The request that a new one is based on (route.fetch, fetch(request)). */
export interface RequestLike {
  url(): string;
  method(): string;
  headers(): Record<string, string>;
  postDataBuffer(): unknown;
}

/** The context that provides cookies and defaults for requests. */
export interface RequestSource {
  /** Parameters that identify it for the server: {context} or {request}. */
  id: object;
  /** The prefix of the operations on its cookies. */
  verb: 'context' | 'api';
  baseURL(): string | undefined;
  /** Returns further parameters of api.fetch. */
  defaults(): Partial<FetchDefaults>;
  timeout(): number;
  storageState(send: Send, options: object | undefined): Promise<State>;
  /** Returns why no more requests can be made, once it has ended. */
  closed(): string | undefined;
}

/** The settings of a context for all of its requests. */
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

  /** Ends the context and drops the bodies of its responses. */
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

  /** Makes a request within a step. Also used by route.fetch. @internal */
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

function checkOptions(o: FetchOptions): void {
  if (Number(o.data !== undefined) + Number(o.form !== undefined) + Number(o.multipart !== undefined) > 1)
    throw new Error(`Only one of 'data', 'form' or 'multipart' can be specified`);
  for (const name of ['maxRedirects', 'maxRetries'] as const) {
    const value = o[name];
    if (value !== undefined && !(value >= 0))
      throw new Error(`'${name}' must be greater than or equal to '0'`);
  }
}

function given(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

type NewContextOptions = NonNullable<Parameters<pw.APIRequest['newContext']>[0]>;

/** Makes request contexts that share nothing with the browser. */
export class APIRequest {
  newContext(options: NewContextOptions = {}): Promise<APIRequestContext> {
    return step('apiRequest.newContext', () => 'request.newContext()', send => newContext(send, { ...defaults.options as NewContextOptions, ...options }));
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

/** Converts credentials to the form of the operations. */
export function credentialList(known: unknown): object[] {
  if (!known)
    return [];
  const all = (Array.isArray(known) ? known : [known]) as { username: string; password: string; origin?: string; send?: string }[];
  return all.map(({ username, password, origin, send }) => ({ username, password, ...origin && { origin }, ...send === 'always' && { always: true } }));
}
