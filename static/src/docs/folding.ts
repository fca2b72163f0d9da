import { h } from '../ui/dom.js';

/** How much taller (px) than its room an answer is at least to be folded. */
const SPARE = 24;

/** Folds tall answers. A button below each of them shows it whole. */
export function enableFolding(): void {
  const tall = [...document.querySelectorAll<HTMLElement>('.returns')].filter((block) => {
    block.toggleAttribute('data-folded', true);
    const code = block.querySelector('pre');
    const folded = code !== null && code.scrollHeight > code.clientHeight + SPARE;
    block.toggleAttribute('data-folded', folded);
    return folded;
  });
  for (const block of tall) {
    const button = h('button', { type: 'button', class: 'button quiet more', 'aria-expanded': 'false', text: 'Show all' });
    button.addEventListener('click', () => {
      const folded = block.toggleAttribute('data-folded');
      button.setAttribute('aria-expanded', String(!folded));
      button.textContent = folded ? 'Show all' : 'Show less';
      if (folded) block.scrollIntoView({ block: 'nearest' });
    });
    block.append(button);
  }
}

/** Closes the list of all groups when the person presses Escape or clicks beside it. */
export function closeGroups(): void {
  const groups = document.querySelector<HTMLDetailsElement>('.docs-all');
  if (!groups) return;
  const close = (): void => {
    groups.open = false;
  };
  document.addEventListener('click', ({ target }) => target instanceof Node && !groups.contains(target) && close());
  groups.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    close();
    groups.querySelector('summary')?.focus();
  });
}
