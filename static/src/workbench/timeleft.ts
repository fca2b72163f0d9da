import { patch, path } from '../ui/api.js';
import { byId, setText, show } from '../ui/dom.js';
import { busy } from '../ui/menus.js';
import { notice } from '../ui/notices.js';
import { clock, span, timeOfDay } from '../ui/times.js';
import type { Live } from '../remote/live.js';
import type { LifeMessage } from '../remote/protocol.js';

/** The person is warned when this much (ms) is left. */
const LITTLE = 2 * 60_000;
/** The time that one press adds, and the longest life of a session (ms). */
const MORE = 30 * 60_000;
const MOST = 24 * 60 * 60_000;

/** Returns the timeout that lets a session live longer by MORE, or for MORE from now on if its time is up. */
export function extended(life: Pick<LifeMessage, 'expiresAt' | 'timeout'>, now: number): number {
  const overdue = Math.max(0, now - Date.parse(life.expiresAt));
  return Math.min(MOST, life.timeout + overdue + MORE);
}

/** Shows the session's time left, the warning before its end, and the button for more time. */
export function showTimeLeft(live: Live, mayExtend: boolean): void {
  let life: LifeMessage | null = null;
  /** The time left as the server sent it, and when it arrived by this page's clock, because the two clocks may differ. */
  let heard = 0;
  /** Next to the connection and, in narrow windows, below the title. While the clock is paused, only that of the request for a person is shown. */
  const places = [byId('time-left'), byId('time-left-below')];
  const warning = byId('time-warning');
  const more = byId('time-more');

  const update = (): void => {
    const over = live.connection.state.phase === 'closed';
    if (life || over) for (const words of places) show(words, !over); // before the first message, the time that the page came with stays
    if (!life || over) return show(warning, false);
    const left = Date.parse(life.expiresAt) - (life.paused ? heard : Date.now());
    const text = left > 0 ? `${left < LITTLE ? clock(left) : span(left)} left` : 'Time is up';
    const end = timeOfDay(Date.parse(life.expiresAt));
    const why = life.draining ? `The server is being stopped. The session ends at ${end} at the latest.` : `The session ends at ${end}.`;
    for (const words of places) {
      setText(words, text);
      words.title = why;
      words.toggleAttribute('data-paused', life.paused);
    }
    show(warning, life.draining || (!life.paused && left < LITTLE));
    setText(byId('time-warning-words'), life.draining ? `The server is being stopped. You can finish your work until ${end}.` : left > 0 ? `This session ends in ${clock(left)}.` : 'Time is up. This session ends as soon as no person or script is working in it.');
    show(more, mayExtend && !life.draining && life.timeout < MOST);
    setText(byId('time-warning-hint'), life.draining ? 'The session ends when nobody works in it.' : mayExtend ? (life.timeout < MOST ? '' : 'A session can last 24 hours at most.') : 'The person who sent you the link can give it more time.');
  };
  live.on('life', (message) => {
    life = message;
    heard = Date.now();
    update();
  });
  live.on('connection', update);
  window.setInterval(update, 1_000);
  more.addEventListener('click', () => void busy(more, notice, async () => {
    if (!life) return;
    await patch(path`/v1/sessions/${live.session}`, { timeout: extended(life, Date.now()) });
  }));
}
