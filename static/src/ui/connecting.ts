import { read, write } from './storage.js';

/** Storage key of the program whose connection the person looked at last. */
const PROGRAM = 'takeover.program';

/** Shows how one kind of program connects: the one that the person chose last, here or on another page. */
export function enableConnecting(): void {
  for (const part of document.querySelectorAll<HTMLElement>('.connect')) {
    const choice = part.querySelector('select');
    if (!choice) continue;
    const show = (): void => {
      for (const one of part.querySelectorAll<HTMLElement>('[data-program]')) one.hidden = one.dataset.program !== choice.value;
    };
    const last = read(PROGRAM);
    if ([...choice.options].some(({ value }) => value === last)) choice.value = last;
    show();
    choice.addEventListener('change', () => {
      write(PROGRAM, choice.value);
      show();
    });
  }
}
