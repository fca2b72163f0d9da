import { messageOf, path, post } from '../api.js';
import { Calling } from '../calling.js';
import { enableCopying, enableTakeoverLinks } from '../copying.js';
import { byId, setText } from '../dom.js';
import { busy, enableDialogs, enableMenus, formError } from '../menus.js';
import { morph } from '../morph.js';
import { notice } from '../notices.js';
import { Thumbnails } from '../thumbnails.js';
import { startTicking, tick } from '../times.js';

/** How often (ms) the list is asked for, in sight and out of it, where the title still counts who waits. */
const REFRESH = 2_000;
const REFRESH_HIDDEN = 10_000;

const thumbnails = new Thumbnails();
const calling = new Calling();
const title = document.title;

/** The server draws the list; this takes over what differs. */
async function refresh(): Promise<void> {
  const online = byId('online');
  try {
    const response = await fetch(location.pathname, { headers: { Accept: 'text/html' }, cache: 'no-store' });
    if (response.redirected || response.status === 401) location.reload();
    if (!response.ok) throw new Error(String(response.status));
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live');
    if (fresh) morph(byId('live'), fresh);
    online.dataset.state = 'open';
    setText(online.querySelector('span') ?? online, 'Online');
  } catch {
    online.dataset.state = 'waiting';
    setText(online.querySelector('span') ?? online, 'Server away');
  }
  const shape = online.querySelector('.shape');
  if (shape) shape.className = online.dataset.state === 'open' ? 'shape dot good' : 'shape cross wrong';
  showCount();
  thumbnails.scan();
  tick();
}

function showCount(): void {
  const waiting = Number(byId('live').dataset.waiting);
  document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  calling.update([...document.querySelectorAll<HTMLElement>('.inbox > .waiting[data-key]')].map((row) => ({
    id: row.dataset.key ?? '', reason: row.querySelector('h3')?.textContent ?? '',
  })));
}

function schedule(): void {
  window.setTimeout(
    () => void refresh().finally(schedule),
    document.hidden ? REFRESH_HIDDEN : REFRESH,
  );
}

interface NewSession { url?: string; dimensions?: { width: number; height: number }; isMobile?: boolean; timeout: number }

async function create(options: NewSession): Promise<void> {
  const { id } = await post<{ id: string }>('/v1/sessions', options);
  location.assign(path`/sessions/${id}`);
}

function newSession(): void {
  const button = byId('new-session');
  button.addEventListener('click', () => void busy(button, notice, () => create({ timeout: Number(button.dataset.minutes) * 60_000 })));

  const form = byId<HTMLFormElement>('new-form');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const [width = 1280, height = 720] = String(data.get('size')).split('x').map(Number);
    const url = String(data.get('url')).trim();
    const options: NewSession = { timeout: Number(data.get('minutes')) * 60_000, dimensions: { width, height } };
    if (url) options.url = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`;
    formError(form, '');
    void busy(form.querySelector('[type=submit]'), (message) => formError(form, message), () => create(options));
  });
}

enableMenus();
enableDialogs();
enableCopying();
enableTakeoverLinks();
newSession();
startTicking();
thumbnails.scan();
showCount();
schedule();
document.addEventListener('visibilitychange', () => !document.hidden && void refresh());
window.addEventListener('pageshow', (event) => event.persisted && void refresh());
window.addEventListener('unhandledrejection', (event) => notice(messageOf(event.reason)));
