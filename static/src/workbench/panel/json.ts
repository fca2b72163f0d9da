import { h } from '../../ui/dom.js';
import { visible } from './describe.js';

/** A longer string is cut in the view; copying copies all of it. */
const LONGEST_STRING = 20_000;

/** Shows a value as indented, coloured JSON, in elements that contain only text. */
export function jsonView(value: unknown): DocumentFragment {
  const out = document.createDocumentFragment();
  write(out, value, '');
  return out;
}

function write(out: DocumentFragment, value: unknown, indent: string): void {
  if (Array.isArray(value)) {
    list(out, '[', ']', value.map((item) => [null, item] as const), indent);
  } else if (typeof value === 'object' && value !== null) {
    list(out, '{', '}', Object.entries(value), indent);
  } else if (typeof value === 'string') {
    const shown = value.length > LONGEST_STRING ? `${value.slice(0, LONGEST_STRING)}…` : value;
    out.append(h('span', { class: 'json-string', text: visible(JSON.stringify(shown)) }));
  } else if (typeof value === 'number') {
    out.append(h('span', { class: 'json-number', text: String(value) }));
  } else {
    out.append(h('span', { class: 'json-word', text: String(value) }));
  }
}

function list(out: DocumentFragment, open: string, close: string, items: readonly (readonly [string | null, unknown])[], indent: string): void {
  if (items.length === 0) {
    out.append(open + close);
    return;
  }
  const deeper = `${indent}  `;
  out.append(open);
  items.forEach(([key, item], i) => {
    out.append(`\n${deeper}`);
    if (key !== null) out.append(h('span', { class: 'json-key', text: visible(key) }), ': ');
    write(out, item, deeper);
    if (i < items.length - 1) out.append(',');
  });
  out.append(`\n${indent}${close}`);
}
