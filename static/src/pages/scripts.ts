import { path, post } from '../ui/api.js';
import { listPage } from '../ui/listpage.js';
import { busy } from '../ui/menus.js';
import { notice } from '../ui/notices.js';

/** How long (ms) a session lives that is started to open or run a script. */
const SESSION_TIMEOUT = 30 * 60_000;

listPage((id) => path`/v1/saved-scripts/${id}`);

/** Starts a session and opens it with a script in its editor, which runs at once if `run` is set. */
async function open(script: string, run: boolean): Promise<void> {
  const { id } = await post<{ id: string }>('/v1/sessions', { timeout: SESSION_TIMEOUT, capture: true });
  const query = new URLSearchParams({ script });
  if (run) query.set('run', (await post<{ id: string }>(path`/v1/sessions/${id}/scripts`, { script })).id);
  location.assign(path`/sessions/${id}` + `?${query}`);
}

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-open], [data-run]') : null;
  if (!button) return;
  const { open: script, run } = button.dataset;
  void busy(button, notice, () => open(run ?? script ?? '', run !== undefined));
});
