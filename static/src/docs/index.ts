import { matches } from '../ui/matching.js';

/** Makes the search field filter the index, and the index show where the person reads. */
export function enableIndex(): void {
  const index = document.querySelector<HTMLElement>('.docs-index');
  const field = document.querySelector<HTMLInputElement>('#docs-search');
  if (!index || !field) return;
  field.addEventListener('input', () => filter(index, field.value.trim()));
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') index.querySelector<HTMLElement>('ul ul li:not([hidden]) a')?.click();
    if (event.key !== 'Escape') return;
    field.value = '';
    filter(index, '');
  });
  followReading(index);
}

/** Shows only the calls that match, with their sections. */
function filter(index: HTMLElement, search: string): void {
  index.classList.toggle('searching', search !== '');
  let found = 0;
  for (const section of index.querySelectorAll<HTMLElement>(':scope > ul > li')) {
    let here = 0;
    for (const link of section.querySelectorAll<HTMLElement>('[data-search]')) {
      const shown = matches(link.dataset.search ?? '', search);
      if (link.parentElement) link.parentElement.hidden = !shown;
      if (shown) here++;
    }
    section.hidden = search !== '' && here === 0;
    found += here;
  }
  const nothing = index.querySelector<HTMLElement>('#docs-nothing');
  if (nothing) nothing.hidden = found > 0;
  const says = index.querySelector<HTMLElement>('#docs-found');
  if (says) says.textContent = search ? `${found} found` : '';
}

/** Marks the section that is being read, and shows its calls in the index. */
function followReading(index: HTMLElement): void {
  const entries = new Map([...index.querySelectorAll<HTMLElement>('[data-index]')].map((entry) => [entry.dataset.index, entry]));
  const watch = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const entry = entries.get((target as HTMLElement).dataset.section);
      entry?.classList.toggle('current', isIntersecting);
      entry?.querySelector('a')?.toggleAttribute('aria-current', isIntersecting);
    }
  }, { rootMargin: '-25% 0px -75% 0px' }); // a line in the upper part of the window
  for (const section of document.querySelectorAll('[data-section]')) watch.observe(section);
}
