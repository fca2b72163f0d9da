// How URLs are matched in waitForURL and the like: by glob, pattern or function.

/** What a URL can be matched with; an object with test is a URLPattern that the script has from somewhere. */
export type UrlMatch = string | RegExp | { test(url: string): boolean } | ((url: URL) => boolean);

const special = new Set('$^+.*()|\\?{}[]'.split(''));

/**
 * A glob as a pattern for all of a URL: * is any characters but a slash, ** any
 * characters, {a,b} either; all else is itself.
 */
export function globToRegExp(glob: string): RegExp {
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
      inGroup = true;
      out += '(';
    } else if (c === '}') {
      inGroup = false;
      out += ')';
    } else if (c === ',' && inGroup) {
      out += '|';
    } else {
      out += special.has(c) ? '\\' + c : c;
    }
  }
  return new RegExp(out + '$');
}

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
  return typeof match === 'string' && match !== '' ? globToRegExp(absolute(match, base)).source : null;
}

/** Whether two ways to match are the same. */
export function sameMatch(a: UrlMatch, b: UrlMatch): boolean {
  return a instanceof RegExp && b instanceof RegExp ? a.source === b.source && a.flags === b.flags : a === b;
}

function absolute(glob: string, base: string | undefined): string {
  if (glob.startsWith('*') || /^[a-z][a-z0-9+.-]*:/i.test(glob))
    return normalized(glob);
  if (!base)
    return glob;
  try {
    return new URL(glob, base).href;
  } catch {
    return glob;
  }
}

// Browsers write an origin with a slash at its end.
function normalized(glob: string): string {
  return /^https?:\/\/[^/?#*{\\]+$/i.test(glob) ? glob + '/' : glob;
}
