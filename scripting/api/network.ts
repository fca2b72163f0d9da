import { refuse } from './errors.ts';
import type { Frame } from './frame.ts';

/** A response as a navigation answers it. */
export interface ResponseInit {
  url: string;
  status: number;
  statusText?: string;
  headers?: Record<string, string>;
  method?: string;
  fromServiceWorker?: boolean;
}

const later = 'this version gives a response without its body';

/** A request that the page made. */
export class Request {
  #frame: Frame;
  #init: ResponseInit;
  #response: Response;

  constructor(frame: Frame, init: ResponseInit, response: Response) {
    this.#frame = frame;
    this.#init = init;
    this.#response = response;
  }

  url(): string { return this.#init.url; }
  method(): string { return this.#init.method ?? 'GET'; }
  frame(): Frame { return this.#frame; }
  isNavigationRequest(): boolean { return true; }
  resourceType(): string { return 'document'; }
  async response(): Promise<Response | null> { return this.#response; }
}

/** The answer to a request. */
export class Response {
  #frame: Frame;
  #init: ResponseInit;
  #request: Request;
  #headers: Record<string, string> = {};

  constructor(frame: Frame, init: ResponseInit) {
    this.#frame = frame;
    this.#init = init;
    this.#request = new Request(frame, init, this);
    for (const [name, value] of Object.entries(init.headers ?? {}))
      this.#headers[name.toLowerCase()] = value;
  }

  url(): string { return this.#init.url; }
  status(): number { return this.#init.status; }
  statusText(): string { return this.#init.statusText ?? ''; }
  /** True for 200 to 299, and for the 0 that file: URLs have. */
  ok(): boolean { return this.status() === 0 || this.status() >= 200 && this.status() <= 299; }
  headers(): Record<string, string> { return { ...this.#headers }; }
  async allHeaders(): Promise<Record<string, string>> { return this.headers(); }
  async headerValue(name: string): Promise<string | null> { return this.#headers[name.toLowerCase()] ?? null; }
  fromServiceWorker(): boolean { return !!this.#init.fromServiceWorker; }
  request(): Request { return this.#request; }
  frame(): Frame { return this.#frame; }
  async finished(): Promise<null> { return null; }
  async body(): Promise<never> { return refuse('response.body', later); }
  async text(): Promise<never> { return refuse('response.text', later); }
  async json(): Promise<never> { return refuse('response.json', later); }
}
