import { type Send, step } from '../core/call.ts';
import { type Header, Headers } from './headers.ts';
import { host } from '../core/host.ts';
import type { APIRequestContext } from './request.ts';
import { buffer } from '../core/values.ts';

/** The answer of api.fetch. */
export interface ResponseInit {
  url: string;
  status: number;
  statusText: string;
  headers: Header[];
  serverAddr: { ipAddress: string; port: number } | null;
  securityDetails: object | null;
  timing: Record<string, number>;
  log?: string[];
  /** The body in base64. A large body is missing; response is then the id with which api.body returns it. */
  body?: string;
  response?: string;
}

/** The response to a request outside the pages. */
export class APIResponse {
  #context: APIRequestContext;
  #init: ResponseInit;
  #headers: Headers;
  #disposed = false;

  constructor(context: APIRequestContext, init: ResponseInit) {
    this.#context = context;
    this.#init = init;
    this.#headers = new Headers(init.headers);
  }

  url(): string { return this.#init.url; }
  status(): number { return this.#init.status; }
  statusText(): string { return this.#init.statusText; }
  ok(): boolean { return this.#init.status >= 200 && this.#init.status <= 299; }
  headers(): Record<string, string> { return this.#headers.all(); }
  headersArray(): Header[] { return this.#headers.array(); }
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

  /** Returns the body as base64. @internal */
  async _base64(send: Send): Promise<string> {
    if (this.#disposed || this.#context._source.closed() !== undefined)
      throw new Error('Response has been disposed');
    return this.#init.body ?? (await send<{ body: string }>('api.body', { response: this.#init.response })).body;
  }

  /** Returns the log of the request, for expect(response).toBeOK(). @internal */
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
