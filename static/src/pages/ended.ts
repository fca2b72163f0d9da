import { get, path } from '../ui/api.js';
import { enableCopying } from '../ui/copying.js';
import { byId, maybeById } from '../ui/dom.js';
import { busy, enableMenus } from '../ui/menus.js';
import { notice } from '../ui/notices.js';
import { startTicking, timeOfDay } from '../ui/times.js';
import { tellOfCalls } from '../ui/watching.js';
import { startAgain } from '../workbench/again.js';
import { EventsPanel } from '../workbench/panel/events.js';

/** The page of a session that has ended: its runs and events, and a button for a new session that continues it. */

const root = byId('ended');
const { session = '', url = '', width, height, run } = root.dataset;

enableMenus();
tellOfCalls();
enableCopying();
startTicking();
for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-clock]')) time.textContent = timeOfDay(Date.parse(time.dateTime));

if (maybeById('events-pane')) new EventsPanel(session, ({ id }, line) => reveal(id, line)).review();

/** Opens a run and shows a line of its script. */
function reveal(id: string, line: number): void {
  const details = [...root.querySelectorAll<HTMLDetailsElement>('details[data-run]')].find((each) => each.dataset.run === id);
  if (!details) return notice('This run is too old to be listed here.');
  details.open = true;
  (details.querySelector(`[data-line="${line}"]`) ?? details).scrollIntoView({ block: 'center' });
}

const again = byId('again');
again.addEventListener('click', () => void busy(again, notice, async () => {
  const script = run ? (await get<{ code: string }>(path`/v1/sessions/${session}/runs/${run}/script`)).code : '';
  await startAgain({ url, width: Number(width), height: Number(height), touch: false, script });
}));
