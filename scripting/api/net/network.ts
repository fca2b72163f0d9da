import { quietly, step } from '../core/call.ts';
import type { Frame } from '../objects/frame.ts';
import { type Header, type HeaderMap, Headers } from './headers.ts';
import { hide } from '../objects/object.ts';
import type { Page } from '../objects/page.ts';
import { buffer, utf8 } from '../core/values.ts';
import type { Worker } from '../objects/worker.ts';
import type { World } from '../objects/world.ts';

/** A request, as the server describes it (automation/pagerequest.go). */
export interface RequestInit {
  id: string;
  page: string;
  serviceWorker?: string;
  context: string;
  frame?: string;
  url: string;
  method: string;
  resourceType: string;
  navigation?: boolean;
  headers: Header[];
  postData?: string;
  redirectedFrom?: RequestInit;
  response?: ResponseInit;
  failure?: string;
  responseEnd: number;
}

/** A response, as the server describes it. */
export interface ResponseInit {
  url: string;
  status: number;
  statusText?: string;
  headers?: Header[];
  fromServiceWorker?: boolean;
  protocol?: string;
  serverAddr?: { ipAddress: string; port: number };
  securityDetails?: SecurityDetails;
  timing?: Omit<ResourceTiming, 'responseEnd'>;
}

interface SecurityDetails { issuer?: string; protocol?: string; subjectName?: string; validFrom?: number; validTo?: number }

interface ResourceTiming {
  startTime: number;
  domainLookupStart: number;
  domainLookupEnd: number;
  connectStart: number;
  secureConnectionStart: number;
  connectEnd: number;
  requestStart: number;
  responseStart: number;
  responseEnd: number;
}

interface Sizes { requestBodySize: number; requestHeadersSize: number; responseBodySize: number; responseHeadersSize: number }

/** The changes that a route makes to a request. */
export interface Overrides { url?: string; method?: string; headers?: HeaderMap; postData?: unknown }

/** A request that a page made. The world keeps one object for each request. */
export class Request {
  /** @internal */
  readonly _id: string;
  /** @internal */
  readonly _world: World;
  /** @internal */
  _overrides: Overrides = {};
  #init: RequestInit;
  #frame: Frame | undefined;
  #from: Request | null;
  #to: Request | null = null;
  #response: Response | null = null;

  constructor(world: World, init: RequestInit) {
    this._id = init.id;
    this._world = world;
    hide(this, '_id', '_world', '_overrides');
    this.#init = init;
    this.#from = init.redirectedFrom ? world.request(init.redirectedFrom) : null;
    if (this.#from)
      this.#from.#to = this;
    this._update(init);
  }

  /** Updates the request from a later event of the server. @internal */
  _update(init: RequestInit): void {
    this.#init = init;
    this.#frame ??= init.frame ? this._world.frames.get(init.frame) : undefined;
    if (init.response && !this.#response)
      this.#response = new Response(this, init.response);
    if (init.redirectedFrom && this.#from)
      this.#from._update(init.redirectedFrom);
  }

  url(): string { return this._overrides.url ?? this.#init.url; }
  method(): string { return this._overrides.method ?? this.#init.method; }
  resourceType(): string { return this.#init.resourceType; }
  isNavigationRequest(): boolean { return !!this.#init.navigation; }
  redirectedFrom(): Request | null { return this.#from; }
  redirectedTo(): Request | null { return this.#to; }
  existingResponse(): Response | null { return this.#response; }
  serviceWorker(): Worker | null { return (this.#init.serviceWorker && this._world.workers.get(this.#init.serviceWorker)) || null; }
  failure(): { errorText: string } | null { return this.#init.failure ? { errorText: this.#init.failure } : null; }

  frame(): Frame {
    this.#frame ??= this.#init.frame ? this._world.frames.get(this.#init.frame) : undefined;
    if (this.#frame)
      return this.#frame;
    if (!this.#init.frame)
      throw new Error('Service Worker requests do not have an associated frame.');
    throw new Error('Frame for this navigation request is not available, because the request\n' +
      'was issued before the frame is created. You can check whether the request\n' +
      'is a navigation request by calling isNavigationRequest() method.');
  }

  headers(): Record<string, string> {
    return (this._overrides.headers ? Headers.of(this._overrides.headers) : new Headers(this.#init.headers)).all();
  }
  async allHeaders(): Promise<Record<string, string>> { return (await this.#wire()).all(); }
  async headersArray(): Promise<Header[]> { return (await this.#wire()).array(); }
  async headerValue(name: string): Promise<string | null> { return (await this.#wire()).get(name); }

  async #wire(): Promise<Headers> {
    if (this._overrides.headers)
      return Headers.of(this._overrides.headers);
    return new Headers((await quietly<{ headers: Header[] }>('request.headers', { request: this._id })).headers);
  }

  postDataBuffer(): any {
    if (this._overrides.postData !== undefined)
      return postBuffer(this._overrides.postData);
    return this.#init.postData === undefined ? null : buffer(this.#init.postData);
  }
  postData(): string | null {
    const data = this.postDataBuffer();
    return data ? utf8(data) : null;
  }
  postDataJSON(): any {
    const data = this.postData();
    if (data === null)
      return null;
    if (this.headers()['content-type']?.includes('application/x-www-form-urlencoded'))
      return Object.fromEntries(new URLSearchParams(data));
    try {
      return JSON.parse(data);
    } catch {
      throw new Error(`POST data is not a valid JSON object: ${data}`);
    }
  }

  async response(): Promise<Response | null> {
    if (!this.#response)
      this._update((await quietly<{ request: RequestInit }>('request.response', { request: this._id })).request);
    return this.#response;
  }

  async sizes(): Promise<Sizes> {
    const { request, sizes } = await quietly<{ request: RequestInit; sizes: Sizes }>('request.sizes', { request: this._id });
    this._update(request);
    return sizes;
  }

  timing(): ResourceTiming {
    const none = { startTime: 0, domainLookupStart: -1, domainLookupEnd: -1, connectStart: -1, secureConnectionStart: -1, connectEnd: -1, requestStart: -1, responseStart: -1 };
    const known = this.#init.response?.timing;
    return { ...none, ...known, responseEnd: known ? this.#init.responseEnd : -1 };
  }

  /** Waits until the request has ended. @internal */
  async _finished(): Promise<void> {
    this._update((await quietly<{ request: RequestInit }>('request.finished', { request: this._id })).request);
  }

  /** Returns the page, unless it is not ready yet: the first request of a popup precedes its page. @internal */
  get _page(): Page | undefined { return this._world.pages.get(this.#init.page); }
  /** @internal */
  get _pageId(): string { return this.#init.page; }
  /** @internal */
  get _contextId(): string { return this.#init.context; }
}

/** The response to a request. */
export class Response {
  #request: Request;
  #init: ResponseInit;
  #headers: Headers;
  #wire: Promise<Headers> | undefined;

  constructor(request: Request, init: ResponseInit) {
    this.#request = request;
    this.#init = init;
    this.#headers = new Headers(init.headers ?? []);
  }

  url(): string { return this.#request._overrides.url ?? this.#init.url; }
  status(): number { return this.#init.status; }
  statusText(): string { return this.#init.statusText ?? ''; }
  /** Returns true for 200 to 299, and for the 0 of file: URLs. */
  ok(): boolean { return this.status() === 0 || this.status() >= 200 && this.status() <= 299; }
  fromServiceWorker(): boolean { return !!this.#init.fromServiceWorker; }
  request(): Request { return this.#request; }
  frame(): Frame { return this.#request.frame(); }

  headers(): Record<string, string> { return this.#headers.all(); }
  async allHeaders(): Promise<Record<string, string>> { return (await this.#onWire()).all(); }
  async headersArray(): Promise<Header[]> { return (await this.#onWire()).array(); }
  async headerValue(name: string): Promise<string | null> { return (await this.#onWire()).get(name); }
  async headerValues(name: string): Promise<string[]> { return (await this.#onWire()).values(name); }

  #onWire(): Promise<Headers> {
    return this.#wire ??= quietly<{ headers: Header[] }>('response.headers', { request: this.#request._id }).then(a => new Headers(a.headers));
  }

  async serverAddr(): Promise<{ ipAddress: string; port: number } | null> { return this.#init.serverAddr ?? null; }
  async securityDetails(): Promise<SecurityDetails | null> { return this.#init.securityDetails ?? {}; }
  async httpVersion(): Promise<string> { return httpVersions[this.#init.protocol ?? ''] ?? (this.#init.protocol?.toUpperCase() || 'HTTP/1.1'); }
  async finished(): Promise<null> {
    await this.#request._finished();
    return null;
  }

  body(): Promise<any> { return this.#read('body', b => b); }
  text(): Promise<string> { return this.#read('text', utf8); }
  async json(): Promise<any> { return JSON.parse(await this.#read('json', utf8)); }

  #read<T>(method: string, as: (body: any) => T): Promise<T> {
    return step(`response.${method}`, () => `response.${method}()`, async send =>
      as(buffer((await send<{ data: string | null }>('response.body', { request: this.#request._id })).data ?? '')));
  }
}

const httpVersions: Record<string, string> = { 'h2': 'HTTP/2.0', 'h3': 'HTTP/3.0', 'http/1.1': 'HTTP/1.1', 'http/1.0': 'HTTP/1.0' };

/** Converts a body for a route: text, bytes, or anything else as JSON. */
export function postBuffer(data: unknown): any {
  const { Buffer } = globalThis as any;
  if (typeof data === 'string')
    return Buffer.from(data, 'utf8');
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(JSON.stringify(data), 'utf8');
}
