// A client of Takeover's API with types, over fetch. schema.gen.ts is generated from /openapi.json.
import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch';
import type { components, paths } from './schema.gen.ts';

export type { components, paths };
export type Session = components['schemas']['Session'];
export type Takeover = components['schemas']['Takeover'];
export type Problem = components['schemas']['Problem'];

/** What the server refused. The problem names the fields that were wrong. */
export class TakeoverError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.title} (${problem.status}): ${problem.detail}`);
    this.name = 'TakeoverError';
    this.problem = problem;
  }
}

/** A client of the server at an address. It sends the key with each request. */
export function createClient(server: string, key?: string, options: Omit<ClientOptions, 'baseUrl'> = {}): Client<paths> {
  const client = createFetchClient<paths>({ ...options, baseUrl: server });
  if (key) {
    client.use({
      onRequest({ request }) {
        request.headers.set('Authorization', `Bearer ${key}`);
        return request;
      },
    });
  }
  return client;
}

/** Returns the data of an answer, or throws a TakeoverError. */
export async function answer<T>(call: Promise<{ data?: T; error?: Problem; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  throw new TakeoverError(isProblem(error) ? error : { type: 'about:blank', title: response.statusText, status: response.status, detail: 'The answer is not a problem of Takeover.' });
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'title' in value && 'detail' in value;
}
