/** Calls the HTTP API. Errors have texts for people. */

/** What is wrong with one field of a request. */
export interface FieldProblem { field: string; error: string }

/** An error for a call that the server refused, or that did not reach it (`status` 0). */
export class APIError extends Error {
  /** fields are the errors of the request's fields. */
  constructor(message: string, readonly status: number, readonly fields: FieldProblem[] = []) {
    super(message);
    this.name = 'APIError';
  }
}

interface Problem { title?: string; detail?: string; errors?: FieldProblem[] }

function explain(status: number, problem: Problem | null): string {
  const fields = problem?.errors?.map((e) => `${e.field}: ${e.error}`).join('; ');
  if (fields) return fields;
  if (problem?.detail) return problem.detail;
  if (problem?.title) return problem.title;
  return `The server answered ${status}.`;
}

/** Makes an API request and returns the response. Rejects with an APIError if the server refuses or cannot be reached. */
export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method, headers: { Accept: 'application/json' }, credentials: 'same-origin' };
  if (signal) init.signal = signal;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, 'Content-Type': 'application/json' };
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new APIError('The server cannot be reached. Check your connection and try again.', 0);
  }
  const text = await response.text();
  let value: unknown = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    // For example, the HTML page of a proxy; the status is enough.
  }
  if (!response.ok) {
    const problem = value as Problem | null;
    throw new APIError(explain(response.status, problem), response.status, problem?.errors);
  }
  return value as T;
}

/** GETs a path. */
export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => call<T>('GET', path, undefined, signal);
/** POSTs a body as JSON. */
export const post = <T>(path: string, body: unknown = {}): Promise<T> => call<T>('POST', path, body);
/** PATCHes with a body as JSON. */
export const patch = <T>(path: string, body: unknown): Promise<T> => call<T>('PATCH', path, body);

/** Builds a path and escapes its parts. */
export function path(parts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent));
}

/** Returns the text that a person reads for an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
