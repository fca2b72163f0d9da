/** Waits until the page has drawn twice: the first time it may have begun before it was asked. */
export function drawing(): Promise<void> {
  return new Promise(resolve => { requestAnimationFrame(() => { requestAnimationFrame(() => { resolve(); }); }); });
}
