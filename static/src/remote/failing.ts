import { byId } from '../ui/dom.js';

let answer: ((reason: string) => void) | null = null;
let ready = false;

/** Opens a dialog that asks why the person cannot do the takeover. */
export function askReason(then: (reason: string) => void): void {
  const dialog = byId<HTMLDialogElement>('fail-dialog');
  const field = byId<HTMLTextAreaElement>('fail-reason');
  answer = then;
  if (!ready) {
    ready = true;
    byId('fail-form').addEventListener('submit', (event) => {
      event.preventDefault();
      const reason = field.value.trim();
      if (!reason) return;
      dialog.close();
      field.value = '';
      answer?.(reason);
    });
    for (const chip of dialog.querySelectorAll<HTMLElement>('[data-reason]')) {
      chip.addEventListener('click', () => {
        field.value = chip.dataset.reason ?? '';
        field.focus();
      });
    }
  }
  dialog.showModal();
}
