import { byId, maybeById, show } from './dom.js';
import { matches } from './matching.js';

/** How long (ms) after a change of the search the server is asked for the list. */
const ASK_AFTER = 200;

/**
 * Filters the entries of a list page (`data-search`) by the text of its search field, which is part of the address. The server renders the list by
 * the same rule; `changed` asks it for entries that are too old to be listed. Returns a function that filters again, after an update.
 */
export function enableSearch(changed?: () => void): () => void {
  let asking = 0;
  const apply = (): void => {
    const field = maybeById<HTMLInputElement>('list-search');
    if (!field) return; // the list is empty
    let any = false;
    for (const entry of byId('live').querySelectorAll<HTMLElement>('[data-search]')) {
      const shown = matches((entry.dataset.search ?? '').toLowerCase(), field.value.trim());
      show(entry, shown);
      any ||= shown;
    }
    for (const section of byId('live').querySelectorAll('section')) show(section, any);
    show(byId('no-match'), !any);
  };
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.id !== 'list-search') return;
    const text = target.value.trim();
    history.replaceState(null, '', text ? `?${new URLSearchParams({ q: text })}` : location.pathname);
    apply();
    window.clearTimeout(asking);
    if (changed) asking = window.setTimeout(changed, ASK_AFTER);
  });
  document.addEventListener('click', ({ target }) => {
    const field = maybeById<HTMLInputElement>('list-search');
    if (!field || !(target instanceof Element && target.id === 'clear-filter')) return;
    field.value = '';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.focus();
  });
  // A browser restores the field's previous text, but the address decides.
  const field = maybeById<HTMLInputElement>('list-search');
  if (field) field.value = new URLSearchParams(location.search).get('q') ?? '';
  apply();
  return apply;
}
