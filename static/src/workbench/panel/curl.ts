import { str } from './describe.js';
import type { CapturedEvent } from './rows.js';

/** Headers that curl sets itself, and pseudo-headers. */
const LEFT_OUT = /^(:|content-length$|host$|connection$)/i;

/** Quotes a word of a shell command, whatever a page has put into it. Characters that a terminal could interpret are escaped. */
export function quoted(text: string): string {
  if (/^[\w./:=@%+,-]+$/.test(text)) return text;
  if (!/[\u0000-\u001f\u007f-\u009f!]|[^\u0000-\u007e]/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replace(/[\\'!]|[^\u0020-\u007e]/gu, (c) => {
    if (c === '\\' || c === "'") return `\\${c}`;
    const code = c.codePointAt(0) ?? 0;
    if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `$'${escaped}'`;
}

/** Returns the command that repeats a request, without redacted parts. */
export function curl(request: CapturedEvent): string {
  const data = request.data ?? {};
  const parts = [`curl ${quoted(str(data.url) || str(request.url))}`];
  const method = str(data.method) || 'GET';
  const body = str(data.post_data);
  if (method !== (body ? 'POST' : 'GET')) parts.push(`-X ${quoted(method)}`);
  for (const [name, values] of Object.entries((data.headers ?? {}) as Record<string, unknown>)) {
    if (LEFT_OUT.test(name)) continue;
    for (const value of str(values).split('\n')) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  if (body) parts.push(`--data-raw ${quoted(body)}`);
  if (Object.keys((data.headers ?? {}) as object).some((name) => name.toLowerCase() === 'accept-encoding')) parts.push('--compressed');
  return parts.join(' \\\n  ');
}
