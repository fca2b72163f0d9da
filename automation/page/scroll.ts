/** The part of the window by which a page is scrolled if nobody says how far. */
const most = 0.8;

/** Scrolls this page at once: by CSS pixels, or by most of the window if amount is 0. */
export function scrollPage(direction: 'up' | 'down' | 'left' | 'right', amount: number): void {
  const vertical = direction === 'up' || direction === 'down';
  const by = (amount || (vertical ? innerHeight : innerWidth) * most) * (direction === 'up' || direction === 'left' ? -1 : 1);
  scrollBy({ left: vertical ? 0 : by, top: vertical ? by : 0, behavior: 'instant' });
}
