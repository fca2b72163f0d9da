import { get, path } from '../ui/api.js';
import { enableColours } from '../ui/colours.js';
import { enableCopying } from '../ui/copying.js';
import { byId, maybeById, show } from '../ui/dom.js';
import { enableKeys } from '../ui/keys.js';
import { busy, enableMenus } from '../ui/menus.js';
import { notice } from '../ui/notices.js';
import { enableTabs } from '../ui/tablist.js';
import { startTicking, writeTimes } from '../ui/times.js';
import { tellOfCalls } from '../ui/watching.js';
import { runAgain, startAgain } from '../workbench/again.js';
import { EventsPanel } from '../workbench/panel/events.js';
import { Timeline, type Bar } from '../workbench/timeline.js';

/** The page of a session that has ended: its time line, runs and events, and a button for a new session that continues it. */

const root = byId('ended');
const { session = '', url = '', width, height, touch, run, from = '', to = '' } = root.dataset;

enableMenus();
enableColours();
enableKeys();
tellOfCalls();
enableCopying();
startTicking();
writeTimes(root);

let panel: EventsPanel | undefined;
const choose = enableTabs(byId('inspector-tabs'), (id) => {
  if (id === 'tab-script') for (const line of root.querySelectorAll('.code-line.at-moment')) line.scrollIntoView({ block: 'nearest' });
  if (id !== 'tab-events' || panel || !maybeById('events-pane')) return;
  panel = new EventsPanel(session, ({ id: of }, line) => reveal(of, line), (at) => timeline.show(at)); // it needs its size
  panel.review();
});

/** Shows the script of a run. Returns false if it is too old to be listed here. */
function showScript(id: string): boolean {
  const scripts = [...root.querySelectorAll<HTMLElement>('.ended-script')];
  if (!scripts.some(({ dataset }) => dataset.script === id)) return false;
  for (const each of scripts) show(each, each.dataset.script === id);
  return true;
}

/** Opens the script of a run at a line. */
function reveal(id: string, line: number): void {
  if (!showScript(id)) return notice('This run is too old to be listed here.');
  choose('tab-script');
  markLine(id, line)?.focus({ preventScroll: true }); // what was pressed is hidden now
}

/** Marks a line of a run's script, and shows it there. Returns the script. */
function markLine(id: string, line: number): HTMLElement | null {
  const code = root.querySelector<HTMLElement>(`.ended-script[data-script="${CSS.escape(id)}"] .ended-code`);
  for (const each of code?.querySelectorAll('.code-line.at-moment') ?? []) each.classList.remove('at-moment');
  const found = code?.querySelector<HTMLElement>(`[data-line="${line}"]`);
  found?.classList.add('at-moment');
  if (code && found) code.scrollTop = found.offsetTop - code.offsetTop - code.clientHeight / 2;
  return code;
}
for (const each of root.querySelectorAll<HTMLDetailsElement>('.ended-run')) {
  each.addEventListener('toggle', () => void (each.open && showScript(each.dataset.run ?? '')));
}

const line = maybeById('failed-line');
line?.addEventListener('click', () => reveal(line.dataset.run ?? '', Number(line.dataset.line)));
const again = byId('again');
again.addEventListener('click', () => void busy(again, notice, async () => {
  const script = run ? (await get<{ code: string }>(path`/v1/sessions/${session}/runs/${run}/script`)).code : '';
  await startAgain({ url, width: Number(width), height: Number(height), touch: touch === 'true', script });
}));
const button = maybeById('run-again');
button?.addEventListener('click', () => void busy(button, notice, () => runAgain(session, run)));

/** What the page lists, as bars of the time line. */
function bars(): Bar[] {
  const list: Bar[] = [];
  for (const { dataset, firstElementChild } of root.querySelectorAll<HTMLElement>('details[data-from]')) {
    const [start, end] = [Date.parse(dataset.from ?? ''), Date.parse(dataset.to ?? '')];
    const title = firstElementChild?.querySelector('.nowrap, .grow')?.textContent ?? '';
    if (dataset.run !== undefined) {
      list.push({ kind: 'run', from: start, to: end, wrong: dataset.status === 'failed' || dataset.status === 'timeout', title });
      continue;
    }
    const claimed = dataset.claimed ? Date.parse(dataset.claimed) : end;
    list.push({ kind: 'waits', from: start, to: claimed, wrong: false, title });
    if (claimed < end) list.push({ kind: 'works', from: claimed, to: end, wrong: false, title });
  }
  return list;
}

const steps = [...root.querySelectorAll<HTMLElement>('.output-line[data-at]')];
const faults = steps.filter((each) => each.classList.contains('error')).map((each) => ({ at: Date.parse(each.dataset.at ?? ''), title: each.querySelector('.what')?.textContent ?? '' }));
/** When the run that is open failed. The picture of that moment shows what its last step has met. */
const failed = [...root.querySelectorAll<HTMLElement>('.ended-run[open]:has(.output-line.error)')].map((each) => Date.parse(each.dataset.to ?? '')).at(-1);
const asked = Number(new URLSearchParams(location.hash.slice(1)).get('at'));
const listed = bars();
const stops = [...steps.map((each) => Date.parse(each.dataset.at ?? '')), ...listed.flatMap((bar) => [bar.from, bar.to])];
/** The pictures of the film that were taken when runs failed, by their times. */
const failures = new Map([...root.querySelectorAll<HTMLElement>('.ended-run[data-picture]')].map(({ dataset }) => [Date.parse(dataset.to ?? ''), path`/v1/sessions/${session}/runs/${dataset.run ?? ''}/picture`]));
const timeline = new Timeline({
  span: { from: Date.parse(from), to: Date.parse(to) }, bars: listed, faults, stops, at: asked || (failed ?? Date.parse(to)),
  url: (at) => failures.get(at) ?? path`/v1/sessions/${session}/film/${String(at)}`,
});

/** Marks the step of each run that a moment belongs to: the last one to begin before it, unless the run was over. */
function markSteps(at: number): void {
  for (const output of root.querySelectorAll('.ended-output')) {
    const { run: id = '', to: end = '' } = output.closest<HTMLElement>('.ended-run')?.dataset ?? {};
    const begun = at <= Date.parse(end) ? [...output.querySelectorAll<HTMLElement>('.output-line[data-at]')].filter((each) => Date.parse(each.dataset.at ?? '') <= at) : [];
    for (const each of output.querySelectorAll('.at-moment')) each.classList.remove('at-moment');
    const last = begun.at(-1);
    last?.classList.add('at-moment');
    markLine(id, Number(last?.dataset.scriptLine));
    if (last && output instanceof HTMLElement) output.scrollTop = last.offsetTop - output.offsetTop - output.clientHeight / 2;
  }
}
timeline.onMove((at, chosen) => {
  markSteps(at);
  if (chosen) history.replaceState(null, '', `#at=${Math.round(at)}`);
});
for (const each of steps) {
  each.addEventListener('click', () => {
    if (getSelection()?.isCollapsed ?? true) timeline.show(Date.parse(each.dataset.at ?? '')); // otherwise they select its text
  });
}
get<{ pictures: number[]; hidden: number[] }>(path`/v1/sessions/${session}/film`).then(({ pictures, hidden }) => {
  timeline.film([...pictures, ...failures.keys()], hidden);
}, () => {
  timeline.film([...failures.keys()]);
  notice('The pictures of this session could not be loaded.');
});
