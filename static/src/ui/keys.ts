import { h, icon } from './dom.js';
import { choices, found, headingOf, type Choice } from './choices.js';
import { enableChoosing } from './choosing.js';
import { enableKeysHelp, isForPage } from './keyshelp.js';
import { isMac } from './platform.js';

/** What the palette finds, in words. */
const SEARCHES = 'Search sessions, scripts, actions';

/** Lets keys open the palette and the list of keys, focus the filter, and go through lists. */
export function enableKeys(): void {
  enableKeysHelp();
  document.addEventListener('keydown', (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.key.toLowerCase() === 'k' && (isMac() ? event.metaKey : event.ctrlKey) && !event.shiftKey && !event.altKey) {
      if (target.closest('#keys[data-typing], .monaco-editor') || document.querySelector('dialog[open]')) return; // there, it has another meaning
      event.preventDefault();
      openPalette();
      return;
    }
    if (!isForPage(event)) return;
    const act = { '/': focusFilter, j: () => go(1), k: () => go(-1) }[event.key];
    if (act && act() !== false) event.preventDefault();
  });
}

/** Moves the focus to the next or previous row of the page's lists. Returns false without one. */
function go(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter((row) => row.checkVisibility());
  const at = rows.findIndex((row) => row === document.activeElement || row.closest('li, tr')?.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return rows.length > 0;
}

function focusFilter(): boolean {
  const field = [...document.querySelectorAll<HTMLInputElement>('input[type=search]')].find((each) => each.checkVisibility());
  field?.focus();
  field?.select();
  return field !== undefined;
}

function openDialog(label: string, className: string, ...children: Node[]): HTMLDialogElement {
  const dialog = h('dialog', { class: `dialog ${className}`, 'aria-label': label, on: { close: () => dialog.remove() } }, ...children);
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Says more about a choice: under a heading, not what the heading says. */
function about(choice: Choice, grouped: boolean): HTMLElement[] {
  const text = grouped ? choice.detail.replace(`${headingOf(choice)} · `, '') : choice.detail;
  return grouped && text === choice.kind ? [] : [h('span', { class: choice.detail.includes(' · ') ? 'meta clip long' : 'meta clip', text })];
}

function openPalette(): void {
  const field = h('input', {
    type: 'text', class: 'palette-field', role: 'combobox', 'aria-label': SEARCHES, 'aria-expanded': 'true', 'aria-controls': 'palette-list', placeholder: SEARCHES, autocomplete: 'off', spellcheck: 'false',
  });
  const list = h('ul', { id: 'palette-list', class: 'palette-list', role: 'listbox', 'aria-label': 'What there is' });
  const dialog = openDialog(SEARCHES, 'palette', field, list);
  let all: Choice[] = [];
  /** What a search finds best stands first, of whatever kind. */
  const grouped = (): boolean => !field.value.trim();
  const draw = enableChoosing(field, list, {
    find: (search) => found(all, search),
    heading: (choice) => (grouped() ? headingOf(choice) : ''),
    show: (choice) => [
      icon(choice.icon), h('span', { class: 'clip', text: choice.title }),
      ...about(choice, grouped()),
    ],
    choose: (choice) => {
      dialog.close();
      choice.act();
    },
  });
  void choices((more) => {
    all = [...all, ...more];
    draw();
  });
  field.focus();
}
