import { path, post } from '../ui/api.js';
import { enableColours } from '../ui/colours.js';
import { show } from '../ui/dom.js';
import { listPage, newDialog } from '../ui/listpage.js';
import { busy } from '../ui/menus.js';
import { notice } from '../ui/notices.js';
import { rememberScript } from '../workbench/editor/editor.js';

/** How long (ms) a session lives that is started to open or run a script. */
const SESSION_TIMEOUT = 30 * 60_000;
/** The code of a new script: the editor is empty, and the server saves no script without any code. */
const EMPTY = '\n';

enableColours();
listPage((id) => path`/v1/saved-scripts/${id}`);

/** Starts a session, does something with it, and opens it with the query that this returns. Without success, no session is left. */
async function start(prepare: (session: string) => Promise<Record<string, string>>): Promise<void> {
  const { id } = await post<{ id: string }>('/v1/sessions', { timeout: SESSION_TIMEOUT, capture: true });
  try {
    const query = new URLSearchParams(await prepare(id)).toString();
    location.assign(path`/sessions/${id}` + (query && `?${query}`));
  } catch (error) {
    await post(path`/v1/sessions/${id}/release`);
    throw error;
  }
}

/** Opens a script in the editor of a new session, where it runs at once if `run` is set. */
function open(script: string, run: boolean): Promise<void> {
  return start(async (session) => ({ script, ...(run && { run: (await post<{ id: string }>(path`/v1/sessions/${session}/scripts`, { script })).id }) }));
}

/**
 * Focuses the script that the address names, for example after it was chosen in the palette. No element has the script's id as its own: the browser
 * would go there, and take the focus away.
 */
function focusNamed(): void {
  const row = [...document.querySelectorAll<HTMLElement>('[data-item]')].find(({ dataset }) => dataset.item === location.hash.slice(1));
  if (!row) return;
  show(row, true); // also if the filter hides it
  show(row.closest('section'), true);
  row.scrollIntoView({ block: 'center' });
  row.querySelector<HTMLElement>('[data-row]')?.focus();
  history.replaceState(null, '', location.pathname + location.search); // so that it can be chosen again
}
focusNamed();
// The palette, which led here, gives the focus back first.
window.addEventListener('hashchange', () => window.setTimeout(focusNamed));

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-open], [data-run], [data-use]') : null;
  if (!button) return;
  const { open: script, run, use } = button.dataset;
  void busy(button, notice, () => (use === undefined ? open(run ?? script ?? '', run !== undefined) : start(async (session) => {
    rememberScript(session, use);
    return {};
  })));
});

newDialog((name) => start(async () => ({ script: (await post<{ id: string }>('/v1/saved-scripts', { name, code: EMPTY })).id })));
