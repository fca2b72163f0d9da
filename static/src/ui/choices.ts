import { get, path } from './api.js';
import { ranked } from './matching.js';
import { ago, timeOfDay } from './times.js';
import { capital, titleOf } from './titles.js';

/** The groups of what the palette offers, with their headings. What people most probably want comes first. */
const GROUPS = {
  action: 'Actions', waiting: 'Waiting for a person', live: 'Live sessions', page: 'Pages', script: 'Scripts', ended: 'Ended sessions', late: 'Appearance',
  twice: 'Sessions that wait', // their requests are listed already
} as const;
export type Group = keyof typeof GROUPS;
const ORDER = Object.keys(GROUPS);

/** What the palette offers: a page, a session, a script or an action. `icon` is a name of the page's sprite; `also` is found, too; of choices that match equally well, that of the earlier group comes first. */
export interface Choice { kind: string; title: string; detail: string; also?: string; icon: string; group: Group; act(): void }

interface Session { id: string; title: string; script?: string; url: string; status: string; held?: boolean; controller?: string; createdAt: string; endedAt: string | null }
interface Script { id: string; name: string }
interface Waiting { id: string; sessionId: string; reason: string; createdAt: string }

const PAGES = [['Sessions', '/'], ['Takeovers', '/takeovers'], ['Trajectories', '/trajectories'], ['Scripts', '/scripts'], ['Profiles', '/profiles'], ['Settings', '/settings'], ['API', '/docs']] as const;
/** How many entries the palette shows. */
const SHOWN = 12;
/** How many of them are of a kind at most, as many may be alike. */
const SHOWN_OF: Readonly<Record<string, number>> = { Session: 5, Takeover: 3 };
/** The states of sessions, as lists call them; others have their own names. */
const STATES: Readonly<Record<string, string>> = { released: 'ended', crashed: 'restarting', held: 'programs are held' };
/** Sessions and scripts that are asked for. */
const MOST = 100;

function actionOf(button: HTMLButtonElement, group: Group): Choice {
  const icon = button.querySelector('use')?.getAttribute('href')?.replace('#i-', '') ?? button.dataset.icon ?? 'forward';
  return { kind: 'Action', icon, title: button.dataset.does ?? '', detail: 'Action', group, act: () => button.click() };
}

function goTo(group: Group, kind: string, icon: string, title: string, detail: string, address: string): Choice {
  return { kind, icon, title, detail, group, act: () => location.assign(address) };
}

/** Passes on what the page itself offers, then what the server knows. */
export async function choices(add: (more: Choice[]) => void): Promise<void> {
  // A disabled or hidden button cannot be pressed here, either.
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('button[data-does]')].filter((button) => button.checkVisibility() && !button.disabled);
  const actions = (which: (button: HTMLButtonElement) => boolean, group: Group = 'action'): Choice[] => buttons.filter(which).map((button) => actionOf(button, group));
  const main = (button: HTMLButtonElement): boolean => button.classList.contains('primary');
  const late = (button: HTMLButtonElement): boolean => button.hasAttribute('data-theme-toggle');
  add([
    ...actions(main), ...actions((button) => !main(button) && !late(button)),
    ...PAGES.filter(([, address]) => address !== location.pathname).map(([title, address]) => goTo('page', 'Page', 'forward', title, 'Page', address)), ...actions(late, 'late'),
  ]);
  const waiting = get<{ takeovers: Waiting[] }>('/v1/takeovers?state=pending').then(({ takeovers }) => takeovers, () => []);
  await Promise.all([
    waiting.then((takeovers) => add(takeovers.map(({ id, reason, createdAt }) =>
      goTo('waiting', 'Takeover', 'hand', reason, `Waiting for a person · ${ago(Date.now() - Date.parse(createdAt))}`, path`/takeover/${id}`)))),
    get<{ sessions: Session[] }>(`/v1/sessions?limit=${MOST}`).then(async ({ sessions }) => {
      const waits = new Set((await waiting).map(({ sessionId }) => sessionId));
      add(sessions.map((session) => {
        const asks = waits.has(session.id); // it is listed already
        const shown = { ...session, status: asks ? 'waiting' : session.held ? 'held' : session.status };
        return { ...goTo(session.endedAt ? 'ended' : asks ? 'twice' : 'live', 'Session', 'globe', session.script || titleOf(session), aboutSession(shown, Date.now()), path`/sessions/${session.id}`), also: `${session.title} ${session.url}` };
      }));
    }, () => {}),
    get<{ scripts: Script[] }>(`/v1/saved-scripts?limit=${MOST}`).then(({ scripts }) => add(scripts.map(({ id, name }) => goTo('script', 'Script', 'code', name, 'Script', path`/scripts#${id}`))), () => {}),
  ]);
}

/** Tells sessions apart: the state, when it began or how long ago it ended, and where it is. */
export function aboutSession({ status, controller, createdAt, endedAt, url }: Omit<Session, 'id' | 'title' | 'script'>, now: number): string {
  const state = status === 'live' ? controlledBy(controller ?? '') : capital(STATES[status] ?? status);
  return `${state} · ${endedAt ? ago(now - Date.parse(endedAt)) : timeOfDay(Date.parse(createdAt))} · ${hostOf(url)}`;
}

/** Says who is in control, in the words of the list of sessions. */
function controlledBy(controller: string): string {
  if (!controller) return 'Idle';
  return controller.startsWith('viewer:') ? 'Person in control' : controller.startsWith('client:') ? 'Agent in control' : 'Script running';
}

function hostOf(url: string): string {
  try {
    return new URL(url).host || url;
  } catch {
    return url;
  }
}

/** Returns the choices that have all words of a search; those that begin with it come first. Few of them are of one kind. */
export function found(all: readonly Choice[], search: string): Choice[] {
  const counts: Record<string, number> = {};
  const few = ({ kind }: Choice): boolean => (counts[kind] = (counts[kind] ?? 0) + 1) <= (SHOWN_OF[kind] ?? SHOWN);
  const inPlace = [...all].sort((a, b) => ORDER.indexOf(a.group) - ORDER.indexOf(b.group));
  return ranked(inPlace, search, ({ kind, title, detail, also = '' }) => [title, `${kind} ${detail}`, also]).filter(few).slice(0, SHOWN);
}

/** Returns the heading that a choice stands under. */
export function headingOf({ group }: Choice): string {
  return GROUPS[group];
}
