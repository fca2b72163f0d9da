import { get, messageOf, path, post } from '../ui/api.js';
import { enableCopying, enableTakeoverLinks } from '../ui/copying.js';
import { byId, setText, show } from '../ui/dom.js';
import { clearErrors, showErrors } from '../sessions/forms.js';
import { ListFilter } from '../ui/listfilter.js';
import { enableKeys } from '../ui/keys.js';
import { busy, enableDialogs, enableMenus, formError } from '../ui/menus.js';
import { notice } from '../ui/notices.js';
import { redraw } from '../ui/redraw.js';
import { Thumbnails } from '../sessions/thumbnails.js';
import { startTicking, tick, timeOfDay, writeTimes } from '../ui/times.js';
import { runAgain } from '../workbench/again.js';
import { Watching, type Overview } from '../ui/watching.js';

/**
 * How often (ms) the list is fetched while the server cannot report changes: on a visible page, and on a hidden one, whose title still shows the
 * number of waiting takeovers.
 */
const REFRESH = 2_000;
const REFRESH_HIDDEN = 10_000;
/** How often (ms) it is fetched otherwise, for figures that are not reported, such as the number of events. */
const REFRESH_TOLD = 30_000;

const thumbnails = new Thumbnails();
const title = document.title;
const filter = new ListFilter(() => void refresh());
/** A refresh is running, and another one is needed after it. */
let refreshing = false;
let again = false;
/** When the list was last updated. */
let drawn = Date.now();

/** Refreshes the list. Any number of calls during a refresh cause only one more. */
async function refresh(): Promise<void> {
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  do {
    again = false;
    await draw();
  } while (again);
  refreshing = false;
}

/** Draws the list again, and says whether the server can be reached. */
async function draw(): Promise<void> {
  const online = byId('online');
  try {
    await redraw();
    online.dataset.state = 'open';
    setText(online.querySelector('span') ?? online, 'Online');
    drawn = Date.now();
    show(byId('away'), false);
  } catch {
    online.dataset.state = 'waiting';
    setText(online.querySelector('span') ?? online, 'Offline');
    setText(byId('away'), `The server cannot be reached. This page shows the state at ${timeOfDay(drawn)}. Reconnecting…`);
    show(byId('away'), true);
  }
  filter.apply();
  const shape = online.querySelector('.shape');
  if (shape) shape.className = online.dataset.state === 'open' ? 'shape dot good' : 'shape cross wrong';
  showCount();
  thumbnails.scan();
  writeTimes(byId('live'));
  tick();
}

function showCount(): void {
  const waiting = Number(byId('live').dataset.waiting);
  document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  watching.calls([...document.querySelectorAll<HTMLElement>('.inbox > .waiting[data-key]')].map((row) => ({
    id: row.dataset.key ?? '', reason: row.querySelector('h3')?.textContent ?? '', claimed: row.hasAttribute('data-claimed'),
  })));
}

function schedule(): void {
  window.setTimeout(
    () => void refresh().finally(schedule),
    watching.connected ? REFRESH_TOLD : document.hidden ? REFRESH_HIDDEN : REFRESH,
  );
}

/** Set when the server has reported the present state. */
let welcomed = false;

/** Handles a report of the server. The first report mostly repeats what the page shows. */
function told({ live, waiting }: Overview): void {
  const known = !welcomed && waiting.filter(({ claimed }) => !claimed).length === Number(byId('live').dataset.waiting) && live === Number(byId('live').dataset.live);
  welcomed = true;
  if (!known) void refresh();
}

interface NewSession { url?: string; dimensions?: { width: number; height: number }; isMobile?: boolean; timeout: number; profile?: string; persist?: boolean }

async function create(options: NewSession): Promise<void> {
  const { id } = await post<{ id: string }>('/v1/sessions', { ...options, capture: true });
  location.assign(path`/sessions/${id}`);
}

/** The page of a session that is made on a phone: one of another size is hard to use there. */
const PHONE = { dimensions: { width: 390, height: 844 }, isMobile: true };

function newSession(): void {
  const button = byId('new-session');
  const phones = matchMedia('(pointer: coarse)').matches && Math.min(screen.width, screen.height) <= 500;
  button.addEventListener('click', () => void busy(button, notice, () => create({ timeout: Number(button.dataset.minutes) * 60_000, ...(phones && PHONE) })));

  const form = byId<HTMLFormElement>('new-form');
  const field = <T extends HTMLElement = HTMLInputElement>(name: string): T => form.elements.namedItem(name) as unknown as T;
  const device = field<HTMLSelectElement>('device');
  device.addEventListener('change', () => {
    const [width = '', height = ''] = device.value.split('x');
    field('width').value = width;
    field('height').value = height;
  });
  const phone = device.querySelector<HTMLOptionElement>('[value="390x844"]');
  if (phone && matchMedia('(pointer: coarse)').matches) { // a phone's page is easier to use on a phone
    device.prepend(phone);
    device.value = phone.value;
    device.dispatchEvent(new Event('change'));
  }
  const offerSaving = (): void => show(field('persist').closest<HTMLElement>('.choice'), field<HTMLSelectElement>('profile').value !== '');
  field('profile').addEventListener('change', offerSaving);
  // The profiles are asked for only when the dialog opens, because the server decrypts them.
  document.querySelector('[data-dialog="new-options"]')?.addEventListener('click', () => void get<{ profiles: { id: string; name: string }[] }>('/v1/profiles?limit=100').then(({ profiles }) => {
    const usable = profiles.filter(({ name }) => name);
    const select = field<HTMLSelectElement>('profile');
    while (select.length > 1) select.remove(1);
    for (const { id, name } of usable) select.add(new Option(name, id));
    show(byId('profile-field'), usable.length > 0);
    offerSaving();
  }, () => {})); // this server keeps none
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    clearErrors(form);
    const url = field('url').value.trim();
    const options: NewSession = {
      timeout: Number(field('minutes').value) * 60_000,
      dimensions: { width: Number(field('width').value), height: Number(field('height').value) },
      isMobile: device.selectedOptions[0]?.hasAttribute('data-touch') ?? false,
    };
    const profile = field<HTMLSelectElement>('profile').value;
    if (profile) Object.assign(options, { profile, persist: field('persist').checked });
    if (url) options.url = /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : `https://${url}`;
    void busy(form.querySelector('[type=submit]'), notice, () => create(options).catch((error: unknown) => showErrors(form, error)));
  });
}

/** What stands in the menus of the rows. */
function rows(): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-again]') : null;
    if (button) void busy(button, notice, () => runAgain(button.dataset.again ?? ''));
  });
  about('end', (name) => setText(byId('end-title'), `End “${name}”?`), (id) => post(path`/v1/sessions/${id}/release`));
  about('delete', (name) => setText(byId('delete-name'), name), (id) => post(path`/v1/sessions/${id}/forget`));
}

/** Prepares a dialog about a session: `opened` names the session, and `act` does the work. */
function about(what: 'end' | 'delete', opened: (name: string) => void, act: (id: string) => Promise<unknown>): void {
  const dialog = byId<HTMLDialogElement>(`${what}-dialog`);
  const form = byId<HTMLFormElement>(`${what}-form`);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>(`[data-${what}]`) : null;
    if (!button) return;
    form.dataset.session = button.dataset[what] ?? '';
    opened(button.dataset.name ?? '');
    formError(form, '');
    dialog.showModal();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void busy(form.querySelector('[type=submit]'), (message) => formError(form, message), async () => {
      await act(form.dataset.session ?? '');
      dialog.close();
      await refresh();
    });
  });
}

enableMenus();
enableKeys();
enableDialogs();
rows();
enableCopying();
enableTakeoverLinks();
newSession();
startTicking();
thumbnails.scan();
const watching = new Watching(told, (connected) => !connected && void refresh());
showCount();
schedule();
document.addEventListener('visibilitychange', () => !document.hidden && void refresh());
window.addEventListener('pageshow', (event) => event.persisted && void refresh());
window.addEventListener('unhandledrejection', (event) => notice(messageOf(event.reason)));
