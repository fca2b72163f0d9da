import type * as pw from 'playwright-core';
import type { Send } from '../core/call.ts';
import type { RequestSource } from './request.ts';
import { typeName } from '../core/values.ts';

/** A cookie in the form that a context returns. */
export type Cookie = Awaited<ReturnType<pw.APIRequestContext['cookies']>>[number];
/** A cookie in the form that a context accepts. */
export type NewCookie = Parameters<pw.APIRequestContext['addCookies']>[0][number];

/** The options of clearCookies. */
export interface CookieFilter { name?: string | RegExp; domain?: string | RegExp; path?: string | RegExp }

/** Removes the matching cookies, or all if there is no filter. */
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
    throw new Error(`cookies: expected array, got ${typeName(cookies)}`);
  const fields: Record<string, string> = { name: 'string', value: 'string', url: 'string', domain: 'string', path: 'string', expires: 'number', httpOnly: 'boolean', secure: 'boolean', sameSite: 'string', partitionKey: 'string' };
  return cookies.map((cookie, i) => {
    const out: Record<string, unknown> = {};
    for (const [name, type] of Object.entries(fields)) {
      const value = (cookie as unknown as Record<string, unknown>)[name];
      if (value === undefined && name !== 'name' && name !== 'value')
        continue;
      if (typeof value !== type)
        throw new Error(`cookies[${i}].${name}: expected ${type}, got ${typeName(value)}`);
      out[name] = value;
    }
    const { sameSite } = cookie;
    if (sameSite !== undefined && !['Strict', 'Lax', 'None'].includes(sameSite))
      throw new Error(`cookies[${i}].sameSite: expected one of (Strict|Lax|None)`);
    return out;
  });
}

/** Returns one or several URLs as a list. */
export function list(urls: string | readonly string[] | undefined): readonly string[] {
  return urls === undefined ? [] : typeof urls === 'string' ? [urls] : urls;
}
