// Locators written as code, in Playwright's style. The result depends only on the selector, not on how a script made it.

import { quote, type FilterOptions, type Text } from './selectors.ts';

/** Options of getByRole in the order in which they are written. */
const roleOptions = ['name', 'exact', 'checked', 'disabled', 'selected', 'expanded', 'includeHidden', 'level', 'description', 'pressed'];

/** Writes the options of a call in braces, or nothing. */
const braces = (parts: string[]) => parts.length ? `{ ${parts.join(', ')} }` : '';

/** Writes a call of the getBy family. */
export function spell(method: string, first: unknown, options: { exact?: boolean; name?: Text } = {}): string {
  const text = method === 'getByRole' ? options.name : first;
  const parts = Object.entries(options)
    .filter(([k, v]) => v !== undefined && (k !== 'exact' || v && typeof text === 'string'))
    .sort(([a], [b]) => roleOptions.indexOf(a) - roleOptions.indexOf(b))
    .map(([k, v]) => `${k}: ${quote(v)}`);
  return `${method}(${[quote(first), braces(parts)].filter(Boolean).join(', ')})`;
}

/** Writes a selector given as text, with its filters. */
export function spellSelector(selector: string, options?: FilterOptions): string {
  const text = selector && parts(selector).map(spellPart).join('.');
  return chain(text, spellFilters(options));
}

/** Writes the filters of a locator: a call for each option. */
export function spellFilters(options: FilterOptions = {}): string {
  const calls: string[] = [];
  const call = (name: keyof FilterOptions, value: string) => calls.push(`filter({ ${name}: ${value} })`);
  if (options.hasText)
    call('hasText', quote(options.hasText));
  if (options.hasNotText)
    call('hasNotText', quote(options.hasNotText));
  if (options.has)
    call('has', options.has._text);
  if (options.hasNot)
    call('hasNot', options.hasNot._text);
  if (options.visible !== undefined)
    calls.push(spellPart(`visible=${options.visible}`));
  return calls.join('.');
}

/** Writes the call for the n-th match, or for the last one if n is -1. */
export function spellNth(index: number): string {
  return index === 0 ? 'first()' : index === -1 ? 'last()' : `nth(${index})`;
}

/** Joins texts, each of which may be empty. */
export function chain(...texts: string[]): string { return texts.filter(Boolean).join('.'); }

function spellPart(part: string): string {
  const [, engine, body] = /^\*?(css|xpath|nth|visible)=([^]*)$/.exec(part) ?? [];
  if (engine === 'nth' && /^-?\d+$/.test(body!))
    return spellNth(Number(body));
  if (engine === 'visible')
    return body === 'true' ? 'visible()' : 'filter({ visible: false })';
  if (engine === 'css' || engine === 'xpath' && /^(\/\/|\.\.)/.test(body!))
    return `locator(${quote(body)})`;
  return `locator(${quote(part)})`;
}

/** Returns the parts of a selector between >>, which have no meaning within quotes. */
function parts(selector: string): string[] {
  const out: string[] = [];
  let quoted = '';
  let start = 0;
  for (let i = 0; i < selector.length; i++) {
    const c = selector[i]!;
    if (c === '\\')
      i++;
    else if (quoted)
      quoted = c === quoted ? '' : quoted;
    else if (c === '"' || c === "'" || c === '`')
      quoted = c;
    else if (c === '>' && selector[i + 1] === '>') {
      out.push(selector.slice(start, i).trim());
      start = ++i + 1;
    }
  }
  return [...out, selector.slice(start).trim()];
}
