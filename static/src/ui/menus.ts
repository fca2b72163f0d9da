import { byId, maybeById, show } from './dom.js';

/** What may stand at the bottom of the window (px), such as a phone's navigation. A menu that would reach it opens upwards. */
const BELOW = 64;

/** Makes `[data-menu]` buttons open and close their menus by mouse and keyboard. */
export function enableMenus(): void {
  let open: HTMLElement | null = null;

  const close = (): void => {
    changes.disconnect();
    if (!open) return;
    show(maybeById(open.dataset.menu ?? ''), false); // its row may be gone
    open.setAttribute('aria-expanded', 'false');
    open = null;
  };
  const items = (): HTMLElement[] =>
    open ? [...byId(open.dataset.menu ?? '').querySelectorAll<HTMLElement>('.menu-item, .choice input')].filter((item) => item.checkVisibility()) : [];
  const place = (button: HTMLElement, menu: HTMLElement): void => {
    menu.classList.remove('up');
    const { top, bottom } = button.getBoundingClientRect();
    menu.classList.toggle('up', menu.getBoundingClientRect().bottom > innerHeight - BELOW && top > innerHeight - BELOW - bottom);
  };
  // A row moves while its list changes: its menu opens to the side that has room then, and closes if the row left the window.
  const changes = new MutationObserver(() => {
    if (!open) return;
    const { top, bottom } = open.getBoundingClientRect();
    if (!open.checkVisibility() || bottom <= 0 || top >= innerHeight) close();
    else place(open, byId(open.dataset.menu ?? ''));
    changes.takeRecords(); // of the class that this wrote
  });
  const start = (button: HTMLElement): void => {
    open = button;
    const menu = byId(button.dataset.menu ?? '');
    show(menu, true);
    place(button, menu);
    button.setAttribute('aria-expanded', 'true');
    const list = button.closest('#live');
    if (list) changes.observe(list, { childList: true, subtree: true, attributeFilter: ['class', 'hidden'] });
  };

  // An item that was chosen by keyboard disappears with its menu, so the focus moves to the button.
  document.addEventListener('click', (event) => {
    if (open && event.detail === 0 && event.target instanceof Element && event.target.closest('.menu-item')) open.focus();
  }, true);
  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const button = target?.closest<HTMLElement>('[data-menu]') ?? null;
    const was = open;
    if (!target?.closest('.menu') || target.closest('.menu-item')) close();
    if (button && button !== was) start(button);
  });
  document.addEventListener('keydown', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-menu]') : null;
    if (!open && button && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) start(button);
    if (!open) return;
    if (event.key === 'Escape') {
      open.focus();
      close();
      return;
    }
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at < 0 ? all.length - 1 : at - 1, Home: 0, End: all.length - 1 };
    const next = to[event.key];
    if (next === undefined) return;
    all.at(next % all.length)?.focus();
    event.preventDefault();
  });
  // Tabbing out of the menu closes it. A press outside closes it with the click.
  document.addEventListener('focusout', (event) => {
    if (!open || !(event.relatedTarget instanceof Node)) return;
    if (!byId(open.dataset.menu ?? '').contains(event.relatedTarget) && !open.contains(event.relatedTarget)) close();
  });
}

/** Makes `[data-dialog]` elements open dialogs. `[data-close]` elements, and a click outside a dialog, close them. */
export function enableDialogs(): void {
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return;
    const opener = event.target.closest<HTMLElement>('[data-dialog]');
    if (opener) byId<HTMLDialogElement>(opener.dataset.dialog ?? '').showModal();
    event.target.closest('[data-close]')?.closest('dialog')?.close();
  });
}

/** Runs the action of a form or button, one at a time. Shows that it is running, and its error. */
export async function busy(button: HTMLElement | null, failed: (message: string) => void, action: () => Promise<void>): Promise<void> {
  if (button?.getAttribute('aria-busy') === 'true') return;
  button?.setAttribute('aria-busy', 'true');
  try {
    await action();
  } catch (error) {
    failed(error instanceof Error ? error.message : String(error));
  } finally {
    button?.removeAttribute('aria-busy');
  }
}

/** Shows an error inside a form, or removes it. */
export function formError(form: HTMLElement, message: string): void {
  const element = form.querySelector<HTMLElement>('.form-error');
  if (!element) return;
  element.textContent = message;
  element.hidden = message === '';
}
