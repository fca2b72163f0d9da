/**
 * Light or dark, as chosen by the person or the system. This is a separate script that runs before the first paint, so that a dark page never flashes
 * white.
 */

type Theme = 'auto' | 'light' | 'dark';
const KEY = 'takeover.theme';
const ORDER: Theme[] = ['auto', 'light', 'dark'];
const WORDS: Record<Theme, string> = { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' };

function read(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return ORDER.includes(kept as Theme) ? (kept as Theme) : 'auto';
  } catch {
    return 'auto'; // storage is blocked
  }
}

function apply(theme: Theme): void {
  const root = document.documentElement;
  if (theme === 'auto') delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const button of document.querySelectorAll<HTMLElement>('[data-theme-toggle]')) {
    button.title = WORDS[theme];
    button.setAttribute('aria-label', WORDS[theme]);
    button.querySelector('use')?.setAttribute('href', `#i-theme-${theme}`);
  }
  document.dispatchEvent(new CustomEvent('themechange'));
}

apply(read());

document.addEventListener('DOMContentLoaded', () => apply(read()));
document.addEventListener('themechosen', () => apply(read()));
document.addEventListener('click', (event) => {
  if (!(event.target instanceof Element) || !event.target.closest('[data-theme-toggle]')) return;
  const next = ORDER[(ORDER.indexOf(read()) + 1) % ORDER.length] ?? 'auto';
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // The choice then applies to this page only.
  }
  apply(next);
});
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => document.dispatchEvent(new CustomEvent('themechange')));
