import { enableTakeoverLinks } from '../ui/copying.js';
import { byId } from '../ui/dom.js';
import { enableKeys } from '../ui/keys.js';
import { enableMenus } from '../ui/menus.js';
import { morph } from '../ui/morph.js';
import { enableSearch } from '../ui/searching.js';
import { startTicking, tick } from '../ui/times.js';
import { Watching } from '../ui/watching.js';

/** The page of all requests for a person. */

/** Fetches the list as the server renders it, and applies the differences. What fails is tried again with the next change. */
async function refresh(): Promise<void> {
  const { search: asked } = location;
  const response = await fetch(location.pathname + asked, { headers: { Accept: 'text/html' }, cache: 'no-store' }).catch(() => null);
  if (!response?.ok || location.search !== asked) return; // the search has changed meanwhile
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live');
  if (fresh) morph(byId('live'), fresh);
  search();
  tick();
}

const search = enableSearch(() => void refresh());
enableMenus();
enableTakeoverLinks();
enableKeys();
startTicking();
new Watching(() => void refresh(), () => undefined);
window.addEventListener('pageshow', (event) => event.persisted && void refresh());
