import { enableTakeoverLinks } from '../ui/copying.js';
import { enableKeys } from '../ui/keys.js';
import { enableMenus } from '../ui/menus.js';
import { redraw } from '../ui/redraw.js';
import { enableSearch } from '../ui/searching.js';
import { startTicking, tick } from '../ui/times.js';
import { Watching } from '../ui/watching.js';

/** The page of all requests for a person. */

/** Draws the list again. What fails is tried again with the next change. */
async function refresh(): Promise<void> {
  await redraw().catch(() => undefined);
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
