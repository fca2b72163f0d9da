import { get, path, post } from '../ui/api.js';
import { rememberScript } from './editor/editor.js';

/** What a new session inherits from one that has ended. */
export interface Earlier {
  url: string;
  width: number;
  height: number;
  touch: boolean;
  script: string;
  /** The script begins at once, with these arguments. Otherwise, it stands in the editor. */
  begin?: { filename: string; args: unknown };
}

/** How long (ms) the new session lives. */
const LIFE = 30 * 60_000;

/** Starts a session at the page of an earlier one, with its script, and opens it. */
export async function startAgain({ url, width, height, touch, script, begin }: Earlier): Promise<void> {
  const { id } = await post<{ id: string }>('/v1/sessions', {
    timeout: LIFE, capture: true, dimensions: { width, height }, isMobile: touch, ...(/^https?:/.test(url) && { url }),
  });
  if (script) rememberScript(id, script);
  let shown = '';
  try {
    if (begin) shown = `?run=${(await post<{ id: string }>(path`/v1/sessions/${id}/scripts`, { code: script, ...begin })).id}`;
  } catch (error) {
    await post(path`/v1/sessions/${id}/release`);
    throw error;
  }
  location.assign(path`/sessions/${id}` + shown);
}

/** What stands in place of a secret, with which an address leads nowhere. */
const HIDDEN = '[REDACTED]';

/** What a new session takes over from an earlier one, and from a run there. */
interface Before { url: string; startUrl: string; dimensions: { width: number; height: number }; isMobile?: boolean }
interface Ran { filename: string; code: string; args: unknown }

/** Starts a session like an earlier one: its size, touch and first page, and the script of a run of it, the newest one by default. Opens it. */
export async function runAgain(session: string, run?: string): Promise<void> {
  const { url, startUrl, dimensions, isMobile = false } = await get<Before>(path`/v1/sessions/${session}`);
  const id = run ?? (await get<{ runs: { id: string }[] }>(path`/v1/sessions/${session}/runs` + '?limit=1')).runs[0]?.id;
  if (!id) throw new Error('No script ran in this session.');
  const { filename, code, args } = await get<Ran>(path`/v1/sessions/${session}/runs/${id}/script`);
  const first = startUrl || url; // of a session of an earlier version, only its last page is known
  await startAgain({ url: first.includes(HIDDEN) ? '' : first, ...dimensions, touch: isMobile, script: code, begin: { filename, args } });
}
