/** Returns which host an address is of, and whether the connection to it is encrypted. An address without a host has an empty one. */
export function placeOf(url: string): { host: string; secure: boolean } {
  if (!URL.canParse(url)) return { host: '', secure: false };
  const { host, protocol } = new URL(url);
  return { host, secure: protocol === 'https:' };
}

/**
 * Returns the site that a host belongs to: its last two labels, or three where the last but one is short, as in `example.co.uk`. It only decides whether
 * to mark a change, so no list of suffixes is needed.
 */
export function siteOf(host: string): string {
  const [name = '', port = ''] = host.startsWith('[') ? [host] : host.split(':');
  if (/^[\d.]+$/.test(name) || name.startsWith('[')) return host;
  const labels = name.split('.');
  const short = labels.length > 2 && (labels.at(-2)?.length ?? 0) <= 3 && (labels.at(-1)?.length ?? 0) === 2;
  return labels.slice(short ? -3 : -2).join('.') + (port && `:${port}`);
}
