import { byId, show } from './dom.js';

/** Makes `[data-menu]` buttons open and close their menus, by mouse and by keyboard. */
export function enableMenus(): void {
  let open: HTMLElement | null = null;

  const close = (): void => {
    if (!open) return;
    show(byId(open.dataset.menu ?? ''), false);
    open.setAttribute('aria-expanded', 'false');
    open = null;
  };
  const items = (): HTMLElement[] => (open ? [...byId(open.dataset.menu ?? '').querySelectorAll<HTMLElement>('.menu-item')] : []);

  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const button = target?.closest<HTMLElement>('[data-menu]') ?? null;
    const was = open;
    if (!target?.closest('.menu') || target.closest('.menu-item')) close();
    if (button && button !== was) {
      open = button;
      show(byId(button.dataset.menu ?? ''), true);
      button.setAttribute('aria-expanded', 'true');
    }
  });
  document.addEventListener('keydown', (event) => {
    if (!open) return;
    if (event.key === 'Escape') {
      open.focus();
      close();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const all = items();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const at = all.indexOf(document.activeElement as HTMLElement);
      all[(at + step + all.length) % all.length]?.focus();
      event.preventDefault();
    }
  });
}

/** Makes `[data-dialog]` open dialogs, and `[data-close]` and a click beside a dialog close them. */
export function enableDialogs(): void {
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return;
    const opener = event.target.closest<HTMLElement>('[data-dialog]');
    if (opener) byId<HTMLDialogElement>(opener.dataset.dialog ?? '').showModal();
    event.target.closest('[data-close]')?.closest('dialog')?.close();
  });
}

/** Runs an action of a form or button once at a time, showing that it is under way, and what went wrong. */
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

/** Shows an error inside a form, or clears it. */
export function formError(form: HTMLElement, message: string): void {
  const element = form.querySelector<HTMLElement>('.form-error');
  if (!element) return;
  element.textContent = message;
  element.hidden = message === '';
}
