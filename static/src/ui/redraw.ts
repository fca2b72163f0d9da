import { byId } from './dom.js';
import { morph } from './morph.js';

/**
 * Fetches the page as the server renders it for its address, and applies the differences of its list. If the address has changed meanwhile, the
 * answer is for another search, and changes nothing. Fails if the server cannot be reached, or does not answer with the page.
 */
export async function redraw(): Promise<void> {
  const { pathname, search } = location;
  const response = await fetch(pathname + search, { headers: { Accept: 'text/html' }, cache: 'no-store' });
  if (response.redirected || response.status === 401) location.reload(); // to sign in
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live');
  if (fresh && location.search === search) morph(byId('live'), fresh);
}
