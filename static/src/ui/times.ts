/** Times for people: relative, with the exact time on hover. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns how long ago a time was, in one unit: "just now", "42 s ago", "3 min ago". */
export function ago(ms: number): string {
  if (ms < 5 * SECOND) return 'just now';
  return `${span(ms)} ago`;
}

/** Returns a duration in one unit. */
export function span(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** Returns the time left as a clock: "3:12", "1:02:30", and "0:00" at the end. */
export function clock(ms: number): string {
  const total = Math.max(0, Math.ceil(ms / SECOND));
  const pad = (n: number): string => String(n).padStart(2, '0');
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  return hours ? `${hours}:${pad(minutes)}:${pad(total % 60)}` : `${minutes}:${pad(total % 60)}`;
}

/** Returns the time left until a deadline: as a clock, or in days if there are any. */
export function timeLeft(ms: number): string {
  return ms < DAY ? clock(ms) : span(ms);
}

/** Returns a duration in at most two units: "48 ms", "1.2 s", "2 min 5 s", "1 h 2 min". The server writes it likewise. */
export function took(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE - 50) return `${(ms / 1000).toFixed(1)} s`;
  return ms < HOUR - 500 ? units(Math.round(ms / SECOND), 'min', 's') : units(Math.round(ms / MINUTE), 'h', 'min');
}

/** Returns a number of small units, 60 of which are a big one, in both. */
function units(small: number, big: string, unit: string): string {
  const rest = small % 60;
  return `${Math.floor(small / 60)} ${big}${rest ? ` ${rest} ${unit}` : ''}`;
}

/** Returns the time of day, to the second. */
export function timeOfDay(ms: number): string {
  const date = new Date(ms);
  const pad = (n: number): string => String(n).padStart(2, '0');
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** Updates every `<time data-ago>`, `[data-deadline]` and `[data-counts]` on the page. */
export function tick(root: ParentNode = document): void {
  const now = Date.now();
  for (const element of root.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    const at = Date.parse(element.dateTime);
    if (Number.isNaN(at)) continue;
    update(element, ago(now - at));
    if (!element.title) element.title = new Date(at).toLocaleString();
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-deadline]')) {
    const at = Date.parse(element.dataset.deadline ?? '');
    if (Number.isNaN(at)) continue;
    update(element, timeLeft(at - now));
    element.classList.toggle('urgent', at - now < 30_000);
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-counts]')) {
    const at = Date.parse(element.dataset.counts ?? '');
    if (!Number.isNaN(at)) update(element, clock(now - at));
  }
}

function update(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Starts to keep the times on the page current. */
export function startTicking(): void {
  tick();
  window.setInterval(tick, 1_000);
}

/** Writes the exact times of a page (`data-clock`), and those with their day (`data-date`), in the person's time zone. */
export function writeTimes(root: HTMLElement): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-clock]')) time.textContent = timeOfDay(Date.parse(time.dateTime));
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-date]')) {
    const at = new Date(time.dateTime);
    time.textContent = `${at.toLocaleDateString(undefined, { dateStyle: 'medium' })} ${timeOfDay(at.getTime())}`;
  }
}
