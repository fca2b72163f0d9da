import { isSecret } from '../../capture/page/secret.ts';

/** The largest part of a page's text that is looked at (UTF-16 code units). */
const MOST = 1 << 20;
/** The prime of the hash FNV-1a of 32 bits. */
const PRIME = 16_777_619;

/** The most fields whose values are looked at. */
const MOST_FIELDS = 500;

/** Returns what a form shows: the values of its fields. Of a secret one, only how long it is. */
function values(): string {
  const fields = [...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>('input, textarea, select')].slice(0, MOST_FIELDS);
  return fields.map((field) => `${isSecret(field) ? field.value.length : field.value} ${'checked' in field && field.checked}`).join('\n');
}

/** Returns a hash of the document's text and the values of its fields, in 16 hexadecimal digits. It tells whether they have changed, and protects nothing. */
export function textHash(): string {
  const text = ((document.body?.textContent ?? '') + values()).slice(-MOST);
  let forward = 2_166_136_261;
  let mixed = text.length;
  for (let i = 0; i < text.length; i++) {
    forward = Math.imul(forward ^ text.charCodeAt(i), PRIME);
    mixed = Math.imul(mixed + forward, PRIME) ^ (mixed >>> 15);
  }
  return [forward, mixed].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

/** How long (ms) is waited for entries that Chromium has kept. */
const PATIENCE = 100;

/** Returns the entries of a kind that Chromium has kept. */
function entries(type: string): Promise<PerformanceEntry[]> {
  return new Promise((done) => {
    const observer = new PerformanceObserver((list) => {
      observer.disconnect();
      done(list.getEntries());
    });
    observer.observe({ type, buffered: true });
    setTimeout(() => {
      observer.disconnect();
      done([]);
    }, PATIENCE);
  });
}

/** Returns a metric of the document (ms; cls has no unit), or null if there is none yet. */
export async function metric(name: string): Promise<number | null> {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const reached = (time: number | undefined): number | null => time || null;
  switch (name) {
    case 'ttfb':
      return reached(navigation?.responseStart);
    case 'domContentLoaded':
      return reached(navigation?.domContentLoadedEventEnd);
    case 'load':
      return reached(navigation?.loadEventEnd);
    case 'fcp':
      return reached(performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    case 'lcp':
      return reached((await entries('largest-contentful-paint')).at(-1)?.startTime);
    case 'cls': {
      const shifts = (await entries('layout-shift')) as (PerformanceEntry & { value: number; hadRecentInput: boolean })[];
      return shifts.reduce((sum, { value, hadRecentInput }) => (hadRecentInput ? sum : sum + value), 0);
    }
    default:
      return null;
  }
}
