import { byId, show } from '../ui/dom.js';

let answer: ((reason: string) => void) | null = null;
let ready = false;

/** Opens a dialog that asks why the person cannot do the takeover. A press on a ready reason sends it; only another one needs the keyboard. */
export function askReason(then: (reason: string) => void): void {
  const dialog = byId<HTMLDialogElement>('fail-dialog');
  const field = byId<HTMLTextAreaElement>('fail-reason');
  const other = byId('fail-other');
  const write = (own: boolean): void => {
    for (const name of ['fail-own', 'fail-send']) show(byId(name), own);
    other.setAttribute('aria-expanded', String(own));
  };
  const send = (reason: string): void => {
    dialog.close();
    field.value = '';
    answer?.(reason);
  };
  answer = then;
  if (!ready) {
    ready = true;
    byId('fail-form').addEventListener('submit', (event) => {
      event.preventDefault();
      const reason = field.value.trim();
      if (reason) send(reason);
    });
    for (const choice of dialog.querySelectorAll<HTMLElement>('[data-reason]')) choice.addEventListener('click', () => send(choice.dataset.reason ?? ''));
    other.addEventListener('click', () => {
      write(true);
      field.focus();
    });
  }
  write(field.value.trim() !== '');
  dialog.showModal();
}
