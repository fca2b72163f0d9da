/** Marks in the contents the call that is being read. */
export function followReading(): void {
  const links = new Map([...document.querySelectorAll<HTMLAnchorElement>('.docs-tree ul a')].map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const link = links.get(target.id);
      if (!link) continue;
      if (isIntersecting) {
        link.setAttribute('aria-current', 'location');
        link.scrollIntoView({ block: 'nearest' });
      } else link.removeAttribute('aria-current');
    }
  }, { rootMargin: '-25% 0px -75% 0px' }); // a line in the upper part of the window
  for (const call of document.querySelectorAll('.operation')) watch.observe(call);
}
