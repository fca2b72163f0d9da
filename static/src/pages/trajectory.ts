import { enableColours } from '../ui/colours.js';
import { enableCopying } from '../ui/copying.js';
import { byId, maybeById } from '../ui/dom.js';
import { enableKeys } from '../ui/keys.js';
import { enableMenus } from '../ui/menus.js';
import { notice } from '../ui/notices.js';
import { enableTabs } from '../ui/tablist.js';
import { startTicking, writeTimes } from '../ui/times.js';
import { tellOfCalls } from '../ui/watching.js';
import { EventsPanel } from '../workbench/panel/events.js';
import { Timeline, type Bar } from '../workbench/timeline.js';

/** The page of a trajectory: its time line, its steps with their pictures, and the session's events of that time. */

const root = byId('ended');
const { files = '', query = '', session = '', from = '', to = '' } = root.dataset;

enableMenus();
enableColours();
enableKeys();
tellOfCalls();
enableCopying();
startTicking();
writeTimes(root);

type Lane = 'script' | 'agent' | 'person';
/** Why there is no picture, in words. */
const NONE: Record<string, string> = {
  secret: 'There is no picture, because a secret field had the focus.',
  timeout: 'There is no picture, because the page did not show itself in time.',
  error: 'There is no picture of this step.',
  limit: 'There is no picture, because the recording was full.',
};

interface Step { element: HTMLDetailsElement; seq: string; kind: string; lane: Lane | ''; at: number; end: number; wrong: boolean; title: string }

const steps: Step[] = [...root.querySelectorAll<HTMLDetailsElement>('.trajectory-step')].map((element) => {
  const { seq = '', kind = '', lane = '', at = '', end = '' } = element.dataset;
  return { element, seq, kind, lane: lane as Lane | '', at: Date.parse(at), end: Date.parse(end), wrong: element.dataset.wrong !== undefined, title: element.querySelector('.what')?.textContent ?? '' };
});

/** Pictures by their times. */
const pictures = new Map<number, string>();
/** Why there is no picture, by times. */
const missing = new Map<number, string>();
for (const { element: { dataset }, at, end } of steps) {
  for (const [time, name, none] of [[at, dataset.before, dataset.noBefore], [end, dataset.after, dataset.noAfter]] as const) {
    if (name) pictures.set(time, name);
    else if (none) missing.set(time, NONE[none] ?? '');
  }
}
/** Returns the step that a moment belongs to: the last one to begin before it. */
const stepAt = (at: number): Step | undefined => steps.findLast((each) => each.at <= at);
const times = [...pictures.keys()].sort((a, b) => a - b);

const bars: Bar[] = steps.filter(({ lane }) => lane).map(({ lane, at, end, wrong, title }) => ({ kind: lane || 'script', from: at, to: end, wrong, title }));
if (maybeById('timeline')) look();

/** Shows the content, unless the page says why it does not. */
function look(): void {
  const asked = new URLSearchParams(location.hash.slice(1)).get('seq');
  const first = steps.find(({ seq }) => seq === asked) ?? steps.find(({ wrong }) => wrong);
  const faults = steps.filter((step) => step.wrong).map(({ end, title }) => ({ at: end, title }));
  const timeline = new Timeline({
    span: { from: Date.parse(from), to: Date.parse(to) }, bars, faults, stops: steps.flatMap(({ at, end }) => [at, end]), at: first?.end ?? Date.parse(to),
    url: (at) => files + (pictures.get(at) ?? '') + query,
    without: (at) => {
      const step = stepAt(at);
      return step && !pictures.has(step.end) ? missing.get(step.end) ?? '' : ''; // an older picture would mislead
    },
  });
  timeline.film(times);
  const select = (step: Step | undefined): void => {
    for (const each of steps) each.element.toggleAttribute('data-at-moment', each === step);
  };
  timeline.onMove((at, chosen) => {
    const step = stepAt(at);
    select(step);
    if (chosen && step) history.replaceState(null, '', `#seq=${step.seq}`);
  });
  for (const step of steps) step.element.querySelector('summary')?.addEventListener('click', () => timeline.show(step.end));
  if (first) {
    first.element.open = true;
    if (asked === first.seq) first.element.scrollIntoView({ block: 'center' });
  }
  let events: EventsPanel | undefined;
  enableTabs(byId('inspector-tabs'), (id) => {
    if (id !== 'tab-events' || events) return;
    events = new EventsPanel(session, () => notice('The script is on the page of its session.'), (at) => timeline.show(at));
    events.read(`${files}session.jsonl${query}`).catch(() => notice('The events could not be loaded.'));
  });
}
