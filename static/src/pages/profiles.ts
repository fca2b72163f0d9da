import { path, post } from '../ui/api.js';
import { listPage, newDialog } from '../ui/listpage.js';
import { busy } from '../ui/menus.js';
import { notice } from '../ui/notices.js';

/** How long (ms) a session lives that is started with a profile. */
const SESSION_TIMEOUT = 30 * 60_000;

listPage((id) => path`/v1/profiles/${id}`);

/** Starts a session with a profile, and opens it. */
async function start(options: { profile: string; persist?: boolean }): Promise<void> {
  const { id } = await post<{ id: string }>('/v1/sessions', { timeout: SESSION_TIMEOUT, capture: true, ...options });
  location.assign(path`/sessions/${id}`);
}

newDialog(async (name) => {
  const taken = [...document.querySelectorAll<HTMLElement>('[data-item]')].some(({ dataset }) => dataset.name === name.trim() || dataset.item === name.trim());
  if (taken) throw new Error('There is a profile of this name.'); // a session would begin with it
  await start({ profile: name.trim(), persist: true });
});

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-start]') : null;
  if (!button) return;
  void busy(button, notice, () => start({ profile: button.dataset.start ?? '' }));
});
