import { typeName } from '../core/values.ts';

/** One header. */
export interface Header { name: string; value: string }

/** Headers in the form of routes; undefined removes a header. */
export type HeaderMap = Record<string, string | undefined>;

/** The headers of a message in order; several may have the same name. */
export class Headers {
  readonly #list: Header[];
  readonly #byName = new Map<string, string[]>();

  constructor(list: Header[]) {
    this.#list = list;
    for (const { name, value } of list) {
      const key = name.toLowerCase();
      const values = this.#byName.get(key);
      if (values)
        values.push(value);
      else
        this.#byName.set(key, [value]);
    }
  }

  static of(map: HeaderMap): Headers { return new Headers(headerList(map)); }

  array(): Header[] { return this.#list.map(h => ({ ...h })); }
  values(name: string): string[] { return [...this.#byName.get(name.toLowerCase()) ?? []]; }
  get(name: string): string | null {
    const key = name.toLowerCase();
    return this.#byName.get(key)?.join(key === 'set-cookie' ? '\n' : ', ') ?? null;
  }
  all(): Record<string, string> {
    const out: Record<string, string> = {};
    for (const name of this.#byName.keys())
      out[name] = this.get(name)!;
    return out;
  }
}

/** Converts a map of headers to a list, without undefined ones. */
export function headerList(map: HeaderMap): Header[] {
  const list: Header[] = [];
  for (const [name, value] of Object.entries(map)) {
    if (value !== undefined)
      list.push({ name, value: String(value) });
  }
  return list;
}

/** Refuses headers that are not strings, in Playwright's words. */
export function checkHeaders(map: HeaderMap): void {
  for (const [name, value] of Object.entries(map)) {
    if (value !== undefined && typeof value !== 'string')
      throw new Error(`Expected value of header "${name}" to be String, but "${typeof value}" is found.`);
  }
}

/** Returns an object's headers as lines, without undefined values. */
export function headerLines(headers: Record<string, string> | undefined): Header[] {
  const lines = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined).map(([name, value]) => ({ name, value }));
  lines.forEach(({ value }, i) => {
    if (typeof value !== 'string')
      throw new Error(`headers[${i}].value: expected string, got ${typeName(value)}`);
  });
  return lines;
}
