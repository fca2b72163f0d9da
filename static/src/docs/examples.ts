import { read, write } from '../ui/storage.js';

/** Storage key of the language in which the person reads examples. */
const LANGUAGE = 'takeover.language';

/** Shows all examples in the language that the person chose last, and changes it when another is chosen. */
export function enableExamples(): void {
  const chosen = read(LANGUAGE);
  if (chosen) show(chosen);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('button[data-language]') : null;
    if (!button?.dataset.language) return;
    const seen = (button.closest('.operation') && button) ?? firstSeen() ?? button;
    const before = seen.getBoundingClientRect().top;
    write(LANGUAGE, button.dataset.language);
    show(button.dataset.language);
    // Examples above have become longer or shorter. What the person looks at stays where it was.
    window.scrollBy({ top: seen.getBoundingClientRect().top - before, behavior: 'instant' });
  });
}

/** Returns the first call that is in sight. */
function firstSeen(): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>('.operation')].find((call) => call.getBoundingClientRect().bottom > 0);
}

/** Shows each example in a language, or in its first one if it has none in that language. */
function show(language: string): void {
  for (const group of document.querySelectorAll('.example, .docs-language')) {
    const buttons = [...group.querySelectorAll<HTMLElement>('[data-language]')];
    const shown = buttons.find((button) => button.dataset.language === language)?.dataset.language ?? buttons[0]?.dataset.language;
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.language === shown));
    for (const code of group.querySelectorAll<HTMLElement>('[data-in]')) code.hidden = code.dataset.in !== shown;
  }
}
