import { call, messageOf, patch, path, post } from '../ui/api.js';
import { enableCopying } from '../ui/copying.js';
import { byId } from '../ui/dom.js';
import { enableKeys } from '../ui/keys.js';
import { busy, enableDialogs, enableMenus, formError } from '../ui/menus.js';
import { morph } from '../ui/morph.js';
import { notice } from '../ui/notices.js';
import { startTicking, tick } from '../ui/times.js';
import { tellOfCalls } from '../ui/watching.js';

/** How long (ms) a session lives that is started to open a script. */
const SESSION_TIMEOUT = 30 * 60_000;

/** The row that the open dialog is about. */
let chosen: HTMLElement | null = null;

/** Fetches the list as the server renders it, and applies the differences. */
async function refresh(): Promise<void> {
  const response = await fetch(location.pathname, { headers: { Accept: 'text/html' }, cache: 'no-store' });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live');
  if (fresh) morph(byId('live'), fresh);
  tick();
}

function idOf(row: HTMLElement | null): string {
  return row?.dataset.script ?? '';
}

/** Prepares a dialog about a row: `opened` fills it, and `act` does the work. */
function about(name: 'rename' | 'delete', opened: (form: HTMLFormElement, row: HTMLElement) => void, act: (form: HTMLFormElement) => Promise<unknown>): void {
  const dialog = byId<HTMLDialogElement>(`${name}-dialog`);
  const form = byId<HTMLFormElement>(`${name}-form`);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>(`[data-${name}]`) : null;
    chosen = button?.closest<HTMLElement>('[data-script]') ?? chosen;
    if (!button || !chosen) return;
    formError(form, '');
    opened(form, chosen);
    dialog.showModal();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void busy(form.querySelector('[type=submit]'), (message) => formError(form, message), async () => {
      await act(form);
      await refresh();
      dialog.close();
    });
  });
}

about(
  'rename',
  (form, row) => {
    const name = form.elements.namedItem('name') as HTMLInputElement;
    name.value = row.dataset.name ?? '';
  },
  (form) => patch(path`/v1/saved-scripts/${idOf(chosen)}`, { name: String(new FormData(form).get('name')) }),
);
about(
  'delete',
  (_form, row) => {
    byId('delete-name').textContent = row.dataset.name ?? '';
  },
  () => call('DELETE', path`/v1/saved-scripts/${idOf(chosen)}`),
);

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-open]') : null;
  if (!button) return;
  void busy(button, notice, async () => {
    const { id } = await post<{ id: string }>('/v1/sessions', { timeout: SESSION_TIMEOUT, capture: true });
    location.assign(path`/sessions/${id}` + `?script=${encodeURIComponent(button.dataset.open ?? '')}`);
  });
});

enableMenus();
enableKeys();
tellOfCalls();
enableDialogs();
enableCopying();
startTicking();
window.addEventListener('unhandledrejection', (event) => notice(messageOf(event.reason)));
