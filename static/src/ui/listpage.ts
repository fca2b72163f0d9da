import { call, messageOf, patch } from './api.js';
import { enableCopying } from './copying.js';
import { byId } from './dom.js';
import { ListFilter } from './listfilter.js';
import { enableKeys } from './keys.js';
import { busy, enableDialogs, enableMenus, formError } from './menus.js';
import { notice } from './notices.js';
import { redraw } from './redraw.js';
import { startTicking, tick } from './times.js';
import { tellOfCalls } from './watching.js';

const filter = new ListFilter();
/** The row that the open dialog is about. */
let chosen: HTMLElement | null = null;

async function refresh(): Promise<void> {
  await redraw();
  filter.apply();
  tick();
}

/** Prepares a dialog about a row: `opened` fills it, and `act` does the work. */
function about(name: 'rename' | 'delete', opened: (form: HTMLFormElement, row: HTMLElement) => void, act: (form: HTMLFormElement, id: string) => Promise<unknown>): void {
  const dialog = byId<HTMLDialogElement>(`${name}-dialog`);
  const form = byId<HTMLFormElement>(`${name}-form`);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>(`[data-${name}]`) : null;
    chosen = button?.closest<HTMLElement>('[data-item]') ?? chosen;
    if (!button || !chosen) return;
    formError(form, '');
    opened(form, chosen);
    dialog.showModal();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void busy(form.querySelector('[type=submit]'), (message) => formError(form, message), async () => {
      await act(form, chosen?.dataset.item ?? '');
      await refresh();
      dialog.close();
    });
  });
}

/** Sets up the dialog that asks for a name; `act` begins with it. */
export function newDialog(act: (name: string) => Promise<void>): void {
  const form = byId<HTMLFormElement>('new-form');
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element && event.target.closest('[data-dialog="new-dialog"]'))) return;
    form.reset();
    formError(form, '');
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const name = String(new FormData(form).get('name'));
    void busy(form.querySelector('[type=submit]'), (message) => formError(form, message), () => act(name));
  });
}

/** Sets up a page that lists what people keep under a name: each row (`data-item`) can be renamed and deleted. `of` is the call for a row. */
export function listPage(of: (id: string) => string): void {
  about(
    'rename',
    (form, row) => {
      const name = form.elements.namedItem('name') as HTMLInputElement;
      name.value = row.dataset.name ?? '';
    },
    (form, id) => patch(of(id), { name: String(new FormData(form).get('name')) }),
  );
  about(
    'delete',
    (_form, row) => {
      byId('delete-name').textContent = row.dataset.name ?? '';
    },
    (_form, id) => call('DELETE', of(id)),
  );
  enableMenus();
  enableKeys();
  tellOfCalls();
  enableDialogs();
  enableCopying();
  startTicking();
  window.addEventListener('unhandledrejection', (event) => notice(messageOf(event.reason)));
}
