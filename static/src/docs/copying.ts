import { copyText } from '../ui/copying.js';
import { busy } from '../ui/menus.js';
import { notice } from '../ui/notices.js';

/** Makes every `[data-copy-from]` button copy the text at its address. */
export function enableCopyingReference(): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-copy-from]') : null;
    if (!button?.dataset.copyFrom) return;
    const address = button.dataset.copyFrom;
    void busy(button, notice, async () => {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error('The server did not send the text.');
      notice((await copyText(await answer.text())) ? 'Copied as Markdown' : 'Your browser did not allow copying.');
    });
  });
}
