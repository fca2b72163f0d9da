// How URLs are matched in waitForURL and the like: by glob, pattern or function.

/** What a URL can be matched with; an object with test is a URLPattern that the script has from somewhere. */
export type UrlMatch = string | RegExp | { test(url: string): boolean } | ((url: URL) => boolean);

const special = new Set('$^+.*()|\\?{}[]'.split(''));

/**
 * A glob as a pattern for all of a URL: * is any characters but a slash, ** any
 * characters, {a,b} either; all else is itself.
 */
function globToRegExp(glob: string): RegExp { return new RegExp(globText(glob)); }

// The pattern's text. A RegExp's source is written otherwise, with what others than
// JavaScript cannot read.
function globText(glob: string): string {
  let out = '^';
  let inGroup = false;
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i]!;
    if (c === '\\' && i + 1 < glob.length) {
      const next = glob[++i]!;
      out += special.has(next) ? '\\' + next : next;
    } else if (c === '*') {
      const before = glob[i - 1];
      let stars = 1;
      while (glob[i + 1] === '*') {
        stars++;
        i++;
      }
      const after = glob[i + 1];
      if (stars > 1 && (before === '/' || before === undefined) && after === '/') {
        out += '((.+/)|)'; // whole folders, or none
        i++;
      } else {
        out += stars > 1 ? '(.*)' : '([^/]*)';
      }
    } else if (c === '{') {
      if (inGroup)
        throw invalid(glob, "nested '{' is not supported");
      inGroup = true;
      out += '(';
    } else if (c === '}') {
      if (!inGroup)
        throw invalid(glob, "unmatched '}'");
      inGroup = false;
      out += ')';
    } else if (c === ',' && inGroup) {
      out += '|';
    } else {
      out += special.has(c) ? '\\' + c : c;
    }
  }
  if (inGroup)
    throw invalid(glob, "unmatched '{'");
  return out + '$';
}

function invalid(glob: string, why: string): Error { return new Error(`Invalid glob pattern ${JSON.stringify(glob)}: ${why}`); }

/** Whether a URL matches; relative globs are taken from base. */
export function urlMatches(url: string, match: UrlMatch | undefined, base?: string): boolean {
  if (match === undefined || match === '')
    return true;
  if (typeof match === 'string')
    return globToRegExp(absolute(match, base)).test(url) || url === match;
  if (typeof match === 'function')
    return match(new URL(url));
  if (match instanceof RegExp)
    match.lastIndex = 0;
  return match.test(url);
}

/** A regular expression for the URLs that match, or null when only the script can say. */
export function patternOf(match: UrlMatch, base?: string): string | null {
  return typeof match === 'string' && match !== '' ? globText(absolute(match, base)) : null;
}

/** Whether two ways to match are the same. */
export function sameMatch(a: UrlMatch, b: UrlMatch): boolean {
  return a instanceof RegExp && b instanceof RegExp ? a.source === b.source && a.flags === b.flags : a === b;
}

// A glob as browsers write URLs: whole, the host in lower case, without dots and
// the usual port. What is no plain text has a stand-in meanwhile, folder by folder.
function absolute(glob: string, base: string | undefined): string {
  if (glob.startsWith('*') || opaque.test(glob))
    return glob;
  const kept: string[] = [];
  const keep = (text: string) => `glob${kept.push(text) - 1}part`;
  let scheme = '';
  const plain = glob.split('/').map((part, i, parts) => {
    if (!/[*?{}\\]/.test(part))
      return part;
    if (i === 0 && part.endsWith(':')) {
      scheme = part.toLowerCase();
      return 'http:';
    }
    if (i === 2 && parts[0]!.endsWith(':') && !part.includes('?'))
      return keep(part.toLowerCase());
    const query = part.indexOf('?');
    if (query < 0)
      return keep(part);
    // A host before a query is one still.
    const before = part.slice(0, query);
    return (before && (i === 2 && !parts[1] && !/[*{}\\]/.test(before) ? before : keep(before))) + '?' + keep(part.slice(query + 1));
  }).join('/');
  try {
    const whole = new URL(plain, base).href.replace(/glob(\d+)part/g, (stand, i) => kept[i] ?? stand);
    return scheme ? whole.replace('http:', () => scheme) : whole;
  } catch {
    return glob;
  }
}

/** URLs that have no host, such as data:, whose text stays as it is. */
const opaque = /^[a-z][a-z0-9+.-]*:(?!\/)/i;
