import { enableTakeoverLinks } from '../ui/copying.js';
import { enableKeys } from '../ui/keys.js';
import { enableMenus } from '../ui/menus.js';
import { ListFilter } from '../ui/listfilter.js';
import { redraw } from '../ui/redraw.js';
import { Thumbnails } from '../sessions/thumbnails.js';
import { startTicking, tick } from '../ui/times.js';
import { Watching } from '../ui/watching.js';

/** The pages of all requests for a person, and of all trajectories. */

/** Draws the list again. What fails is tried again with the next change. */
async function refresh(): Promise<void> {
  await redraw().catch(() => undefined);
  filter.apply();
  thumbnails.scan();
  tick();
}

const thumbnails = new Thumbnails();
const filter = new ListFilter(() => void refresh());
thumbnails.scan();
enableMenus();
enableTakeoverLinks();
enableKeys();
startTicking();
new Watching(() => void refresh(), () => undefined);
window.addEventListener('pageshow', (event) => event.persisted && void refresh());
