/** Figures of a page. Times are in ms since its navigation began; one that is not known yet is 0. */
export interface Vitals {
  loadTime: number;
  ttfb: number;
  fcp: number;
  lcp: number;
  longTasks: number;
  longestTask: number;
}

/** Returns what this page's performance timeline knows. The page cannot change what it answers, because observers and timeline are this world's own. */
export function vitals(): Vitals {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const tasks = buffered('longtask');
  return {
    loadTime: Math.max(navigation?.loadEventEnd ?? 0, 0),
    ttfb: navigation?.responseStart ?? 0,
    fcp: buffered('paint').find(entry => entry.name === 'first-contentful-paint')?.startTime ?? 0,
    lcp: buffered('largest-contentful-paint').at(-1)?.startTime ?? 0,
    longTasks: tasks.length,
    longestTask: Math.max(0, ...tasks.map(task => task.duration)),
  };
}

/** Returns the entries of a type that Chromium has kept. Some types are told to observers only. */
function buffered(type: string): PerformanceEntry[] {
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type, buffered: true });
  const entries = observer.takeRecords();
  observer.disconnect();
  return entries;
}
