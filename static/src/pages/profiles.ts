import { path, post } from '../ui/api.js';
import { listPage } from '../ui/listpage.js';
import { busy } from '../ui/menus.js';
import { notice } from '../ui/notices.js';

/** How long (ms) a session lives that is started with a profile. */
const SESSION_TIMEOUT = 30 * 60_000;

listPage((id) => path`/v1/profiles/${id}`);

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-start]') : null;
  if (!button) return;
  void busy(button, notice, async () => {
    const { id } = await post<{ id: string }>('/v1/sessions', { timeout: SESSION_TIMEOUT, capture: true, profile: button.dataset.start });
    location.assign(path`/sessions/${id}`);
  });
});
