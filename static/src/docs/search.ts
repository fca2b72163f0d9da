import { get } from '../ui/api.js';
import { enableChoosing } from '../ui/choosing.js';
import { h } from '../ui/dom.js';
import { notice } from '../ui/notices.js';
import { foundIn, type Entry, type Field } from './entries.js';

/** The entries, once they were asked for. */
let asked: Promise<Entry[]> | undefined;

function entries(): Promise<Entry[]> {
  asked ??= get<{ calls: Entry[] }>('/docs/calls.json').then(({ calls }) => calls);
  return asked;
}

/** Makes the search field find calls, objects, messages and errors on all pages. */
export function enableSearch(): void {
  const field = document.querySelector<HTMLInputElement>('#docs-search');
  const list = document.querySelector<HTMLElement>('#docs-results');
  if (!field || !list) return;
  let all: readonly Entry[] = [];
  const open = (shown: boolean): void => {
    list.hidden = !shown;
    field.setAttribute('aria-expanded', String(shown));
  };
  const draw = enableChoosing(field, list, {
    find: (search) => foundIn(all, search),
    show: ({ entry, field }) => [h('b', { class: 'method', text: entry.method ?? entry.kind }), nameOf(entry, field), h('span', { class: 'meta clip', text: saysOf(entry, field) })],
    choose: ({ entry: { address } }) => {
      open(false);
      field.blur();
      location.assign(address);
    },
  });
  const update = (): void => open(field.value.trim() !== '' && all.length > 0);
  field.addEventListener('focus', () => void entries().then((each) => {
    all = each;
    draw();
    update();
  }, () => {
    asked = undefined;
    notice('The search could not be loaded.');
  }));
  field.addEventListener('input', update);
  field.addEventListener('blur', (event) => !list.contains(event.relatedTarget as Node | null) && open(false));
  list.addEventListener('mousedown', (event) => event.preventDefault()); // the field keeps the focus until the click
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    field.value = '';
    draw();
    open(false);
  });
}

/** Shows the path of a call, or the name of what else was found: of an object with the field for which it was. */
function nameOf({ kind, path, title }: Entry, field?: Field): HTMLElement {
  if (path) return pathOf(path);
  return kind === 'Object' && field ? h('code', { text: `${title}.${field.name}` }) : h('span', { class: 'name', text: title });
}

/** Says what was found: what a call does and the field for which it was found, what an object's field is, or the fields of an object. */
function saysOf({ kind, title, words, fields = [] }: Entry, field?: Field): string {
  switch (kind) {
    case 'Call': return field ? `${title} ${field.name}: ${field.does}` : title;
    case 'Object': return field?.does ?? `Has ${fields.map(({ name }) => name).join(', ')}`;
    default: return words ?? '';
  }
}

/** Shows a whole path, since paths differ at their ends. It breaks only after a slash. */
function pathOf(path: string): HTMLElement {
  return h('code', {}, ...path.split(/(?<=\/)/).flatMap((part) => [part, h('wbr')]));
}

/** Goes on to the page that has what an address such as `/docs#requestTakeover` means, as all calls were once on one page. */
export function followOldAddress(): void {
  const anchor = location.hash.slice(1);
  if (location.pathname !== '/docs' || !anchor || document.getElementById(anchor)) return;
  void entries().then((all) => {
    const meant = all.find(({ id }) => id === anchor);
    if (meant) location.replace(meant.address);
  }, () => {});
}
