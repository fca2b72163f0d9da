// Matches URLs for waitForURL and similar methods: by glob, pattern or function.

/** What a URL can be matched against. An object with a method test is a URLPattern, which a script may have from elsewhere. */
export type UrlMatch = string | RegExp | { test(url: string): boolean } | ((url: URL) => boolean);

const special = new Set('$^+.*()|\\?{}[]'.split(''));

/**
 * Converts a glob to a pattern for the whole URL: * matches any characters except a slash, ** any characters, and {a,b} one of the two. Everything
 * else is literal.
 */
function globToRegExp(glob: string): RegExp { return new RegExp(globText(glob)); }

// Returns the source of the pattern, in the syntax that Go's regular expressions share. A RegExp's own source may escape characters in a way that Go
// cannot parse.
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

/** Returns whether a URL matches. Relative globs are resolved against base. */
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

/** Returns a regular expression for the URLs that match, or null if only the script can decide. */
export function patternOf(match: UrlMatch, base?: string): string | null {
  return typeof match === 'string' && match !== '' ? globText(absolute(match, base)) : null;
}

/** Returns whether two match conditions are the same. */
export function sameMatch(a: UrlMatch, b: UrlMatch): boolean {
  return a instanceof RegExp && b instanceof RegExp ? a.source === b.source && a.flags === b.flags : a === b;
}

// Rewrites a glob to the form in which browsers write URLs: absolute, with the host in lower case, without dots in the path and without the default
// port. Meanwhile, placeholders stand for parts that are not plain text.
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
    // A host may be followed by a query.
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

/** URLs without a host, such as data:, whose text stays unchanged. */
const opaque = /^[a-z][a-z0-9+.-]*:(?!\/)/i;
