// fetch and its classes, as far as scripts need them. They are part of a bundle that is loaded on demand. Requests are sent like those of `request`,
// but without cookies.

import { host } from '../core/host.ts';
import { concat, multipart, utf8, type Field } from '../net/payload.ts';

type Part = string | ArrayBuffer | ArrayBufferView | Blob;
type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>;

function bytesOf(part: Part): Uint8Array {
  if (part instanceof Blob)
    return part._bytes;
  if (part instanceof ArrayBuffer)
    return new Uint8Array(part);
  if (ArrayBuffer.isView(part))
    return new Uint8Array(part.buffer as ArrayBuffer, part.byteOffset, part.byteLength);
  return utf8(String(part));
}

function textOf(bytes: Uint8Array): string {
  const text = host.decode(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteOffset + bytes.length, false);
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Bytes with a type. */
export class Blob {
  /** @internal */
  readonly _bytes!: Uint8Array;
  readonly type: string;

  constructor(parts: Iterable<Part> = [], options: { type?: string } = {}) {
    Object.defineProperty(this, '_bytes', { value: concat([...parts].map(bytesOf)) });
    this.type = String(options.type ?? '').toLowerCase();
  }

  get size(): number { return this._bytes.length; }
  async arrayBuffer(): Promise<ArrayBuffer> { return this._bytes.slice().buffer as ArrayBuffer; }
  async bytes(): Promise<Uint8Array> { return this._bytes.slice(); }
  async text(): Promise<string> { return textOf(this._bytes); }
  slice(start?: number, end?: number, type = ''): Blob { return new Blob([this._bytes.slice(start, end)], { type }); }
  stream(): Stream { return new Stream(this._bytes); }
}

/** A blob with a name. */
export class File extends Blob {
  readonly name: string;
  readonly lastModified: number;

  constructor(parts: Iterable<Part>, name: string, options: { type?: string; lastModified?: number } = {}) {
    super(parts, options);
    this.name = String(name);
    this.lastModified = options.lastModified ?? Date.now();
  }
}

type Entry = string | File;

/** The fields of a form. */
export class FormData {
  #entries: [string, Entry][] = [];

  append(name: string, value: unknown, filename?: string): void { this.#entries.push([String(name), entry(value, filename)]); }
  set(name: string, value: unknown, filename?: string): void {
    const at = this.#entries.findIndex(([n]) => n === name);
    if (at < 0)
      return this.append(name, value, filename);
    this.#entries = this.#entries.filter(([n], i) => n !== name || i === at);
    this.#entries[at] = [name, entry(value, filename)];
  }
  delete(name: string): void { this.#entries = this.#entries.filter(([n]) => n !== name); }
  get(name: string): Entry | null { return this.#entries.find(([n]) => n === name)?.[1] ?? null; }
  getAll(name: string): Entry[] { return this.#entries.filter(([n]) => n === name).map(([, v]) => v); }
  has(name: string): boolean { return this.#entries.some(([n]) => n === name); }
  forEach(f: (value: Entry, name: string, form: FormData) => void): void { this.#entries.forEach(([n, v]) => f(v, n, this)); }
  entries(): IterableIterator<[string, Entry]> { return this.#entries.map(e => [...e] as [string, Entry]).values() as IterableIterator<[string, Entry]>; }
  keys(): IterableIterator<string> { return this.#entries.map(([n]) => n).values() as IterableIterator<string>; }
  values(): IterableIterator<Entry> { return this.#entries.map(([, v]) => v).values() as IterableIterator<Entry>; }
  [Symbol.iterator](): IterableIterator<[string, Entry]> { return this.entries(); }
}

function entry(value: unknown, filename: string | undefined): Entry {
  if (value instanceof File && filename === undefined)
    return value;
  if (value instanceof Blob)
    return new File([value], filename ?? 'blob', { type: value.type });
  return String(value);
}

/** The headers of a request or response. */
export class Headers {
  #lines = new Map<string, string[]>();

  constructor(init?: HeadersInit) {
    if (!init)
      return;
    const lines = init instanceof Headers ? init._lines() : Symbol.iterator in init ? init as Iterable<readonly [string, string]> : Object.entries(init);
    for (const [name, value] of lines)
      this.append(name, value);
  }

  append(name: string, value: string): void {
    const key = checked(name);
    this.#lines.set(key, [...this.#lines.get(key) ?? [], String(value).trim()]);
  }
  set(name: string, value: string): void { this.#lines.set(checked(name), [String(value).trim()]); }
  delete(name: string): void { this.#lines.delete(checked(name)); }
  has(name: string): boolean { return this.#lines.has(checked(name)); }
  get(name: string): string | null { return this.#lines.get(checked(name))?.join(', ') ?? null; }
  getSetCookie(): string[] { return [...this.#lines.get('set-cookie') ?? []]; }
  forEach(f: (value: string, name: string, headers: Headers) => void): void {
    for (const [name, value] of this.entries())
      f(value, name, this);
  }
  *entries(): IterableIterator<[string, string]> {
    for (const name of [...this.#lines.keys()].sort()) {
      const values = this.#lines.get(name)!;
      if (name === 'set-cookie')
        yield* values.map(v => [name, v] as [string, string]);
      else
        yield [name, values.join(', ')];
    }
  }
  *keys(): IterableIterator<string> { for (const [name] of this.entries()) yield name; }
  *values(): IterableIterator<string> { for (const [, value] of this.entries()) yield value; }
  [Symbol.iterator](): IterableIterator<[string, string]> { return this.entries(); }

  /** Returns one entry for each line. @internal */
  _lines(): [string, string][] { return [...this.#lines].flatMap(([name, values]) => values.map(v => [name, v] as [string, string])); }
}

function checked(name: string): string {
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name))
    throw new TypeError(`Headers: ${name} is an invalid header name.`);
  return name.toLowerCase();
}

/** A body that is read at once, presented as a stream. */
export class Stream {
  #bytes: Uint8Array | undefined;
  locked = false;
  constructor(bytes: Uint8Array) { this.#bytes = bytes.length ? bytes : undefined; }
  getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }>; releaseLock(): void; cancel(): Promise<void> } {
    this.locked = true;
    return {
      read: async () => {
        const value = this.#bytes;
        this.#bytes = undefined;
        return value ? { done: false, value } : { done: true };
      },
      releaseLock: () => { this.locked = false; },
      cancel: async () => { this.#bytes = undefined; },
    };
  }
  [Symbol.asyncIterator](): { next(): Promise<{ done: boolean; value?: Uint8Array }> } {
    const reader = this.getReader();
    return { next: () => reader.read() };
  }
}

/** The common part of Request and Response. */
abstract class Body {
  #bytes: Uint8Array | null = null;
  bodyUsed = false;
  abstract readonly headers: Headers;

  /** @internal */
  _take(init: unknown): void {
    if (init === null || init === undefined)
      return;
    let type = 'text/plain;charset=UTF-8';
    if (init instanceof FormData) {
      const { body, contentType } = multipart(fieldsOf(init));
      this.#bytes = body;
      type = contentType;
    } else if (init instanceof URLSearchParams) {
      this.#bytes = utf8(init.toString());
      type = 'application/x-www-form-urlencoded;charset=UTF-8';
    } else {
      this.#bytes = bytesOf(init as Part);
      type = init instanceof Blob ? init.type : typeof init === 'string' ? type : '';
    }
    if (type && !this.headers.has('content-type'))
      this.headers.set('content-type', type);
  }
  /** @internal */
  _peek(): Uint8Array | null { return this.#bytes; }
  #read(): Uint8Array {
    if (this.bodyUsed)
      throw new TypeError('Body is unusable: Body has already been read');
    this.bodyUsed = this.#bytes !== null;
    return this.#bytes ?? new Uint8Array(0);
  }

  get body(): Stream | null { return this.#bytes && new Stream(this.#read()); }
  async arrayBuffer(): Promise<ArrayBuffer> { return this.#read().slice().buffer as ArrayBuffer; }
  async bytes(): Promise<Uint8Array> { return this.#read().slice(); }
  async blob(): Promise<Blob> { return new Blob([this.#read()], { type: this.headers.get('content-type') ?? '' }); }
  async text(): Promise<string> { return textOf(this.#read()); }
  async json(): Promise<any> { return JSON.parse(await this.text()); }
  async formData(): Promise<FormData> {
    if (!this.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded'))
      throw new TypeError('Could not parse content as FormData.');
    const form = new FormData();
    new URLSearchParams(await this.text()).forEach((value, name) => form.append(name, value));
    return form;
  }
}

function fieldsOf(form: FormData): Field[] {
  return [...form].map(([name, value]) => typeof value === 'string'
    ? { name, value }
    : { name, file: { name: value.name, mimeType: value.type, buffer: value._bytes } });
}

interface RequestOptions { method?: string; headers?: HeadersInit; body?: unknown; signal?: AbortSignal | null; redirect?: string }

/** A request. */
export class Request extends Body {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly redirect: string;

  constructor(input: Request | URL | string, init: RequestOptions = {}) {
    super();
    const of = input instanceof Request ? input : undefined;
    try {
      this.url = of ? of.url : new URL(String(input)).href;
    } catch {
      throw new TypeError(`Failed to parse URL from ${String(input)}`);
    }
    const method = String(init.method ?? of?.method ?? 'GET');
    this.method = /^(get|post|put|delete|head|options)$/i.test(method) ? method.toUpperCase() : method;
    this.headers = new Headers(init.headers ?? of?.headers);
    this.redirect = init.redirect ?? of?.redirect ?? 'follow';
    this.signal = init.signal ?? of?.signal ?? new AbortController().signal;
    const body = init.body ?? of?._peek();
    if (body !== null && body !== undefined && (this.method === 'GET' || this.method === 'HEAD'))
      throw new TypeError('Request with GET/HEAD method cannot have body.');
    this._take(body);
  }

  clone(): Request { return new Request(this); }
}

interface ResponseOptions { status?: number; statusText?: string; headers?: HeadersInit }

/** A response. */
export class Response extends Body {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  url = '';
  redirected = false;
  type = 'default';

  constructor(body?: unknown, init: ResponseOptions = {}) {
    super();
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? '';
    this.headers = new Headers(init.headers);
    this._take(body);
  }

  get ok(): boolean { return this.status >= 200 && this.status <= 299; }
  clone(): Response {
    if (this.bodyUsed)
      throw new TypeError('Response.clone: Body has already been consumed.');
    const copy = new Response(this._peek(), this);
    return Object.assign(copy, { url: this.url, redirected: this.redirected, type: this.type });
  }

  static json(data: unknown, init: ResponseOptions = {}): Response {
    const headers = new Headers(init.headers);
    if (!headers.has('content-type'))
      headers.set('content-type', 'application/json');
    return new Response(JSON.stringify(data), { ...init, headers });
  }
  static error(): Response { return Object.assign(new Response(null, { status: 0 }), { type: 'error' }); }
  static redirect(url: string, status = 302): Response { return new Response(null, { status, headers: { location: new URL(url).href } }); }
}

const nullBody = new Set([101, 204, 205, 304]);
const isRedirect = new Set([301, 302, 303, 307, 308]);

/** Fetches a URL outside the pages. */
export async function fetch(input: Request | URL | string, init?: RequestOptions): Promise<Response> {
  const request = new Request(input, init);
  const { signal } = request;
  signal.throwIfAborted();
  const headers = request.headers._lines().map(([name, value]) => ({ name, value }));
  const body = request._peek();
  const trace = host.trace();
  const params = {
    plain: true, url: request.url, method: request.method, headers,
    maxRedirects: request.redirect === 'follow' ? 20 : 0,
    ...body && { body: host.toBase64(body.buffer as ArrayBuffer, body.byteOffset, body.byteOffset + body.length) },
  };
  const answer = await new Promise<any>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    call('api.fetch', params, trace).then(resolve, e => reject(new TypeError('fetch failed', { cause: e })));
  });
  if (request.redirect === 'error' && isRedirect.has(answer.status))
    throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
  const bytes = nullBody.has(answer.status) || request.method === 'HEAD' ? null : await bodyOf(answer, trace);
  const response = new Response(bytes, {
    status: answer.status, statusText: answer.statusText,
    headers: answer.headers.map((h: { name: string; value: string }) => [h.name, h.value]),
  });
  return Object.assign(response, { url: answer.url, redirected: answer.url !== request.url.replace(/#.*/, ''), type: 'basic' });
}

async function bodyOf(answer: { body?: string; response?: string }, trace: ReturnType<typeof host.trace>): Promise<Uint8Array> {
  let { body, response } = answer;
  if (body === undefined) {
    ({ body } = await call('api.body', { response }, trace));
    void call('api.disposeResponse', { response }, trace);
  }
  return new Uint8Array(host.fromBase64(body!) ?? new ArrayBuffer(0));
}

async function call(op: string, params: object, trace: ReturnType<typeof host.trace>): Promise<any> {
  try {
    return await host.call(op, JSON.stringify(params), trace);
  } catch (e) {
    throw new Error((e as Error).message.split('\nCall log:')[0]);
  }
}

// The bundler renames classes that the platform also has.
for (const [name, c] of Object.entries({ Blob, File, FormData, Headers, ReadableStream: Stream, Request, Response }))
  Object.defineProperty(c, 'name', { value: name, configurable: true });
