import { kindOf, SECRET } from './fields.ts';

/** How much of a value is reported, in UTF-16 units. People do not type longer secrets. */
const MOST = 512;

/** Returns a listener that reports the content of a secret field whenever it changes. */
export function secretTyped(report: (message: object) => void): (event: Event) => void {
  return (event) => {
    const field = event.composedPath()[0];
    if (!(field instanceof HTMLElement)) return;
    const value = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? field.value : field.isContentEditable ? (field.textContent ?? '') : '';
    if (value && SECRET.has(kindOf(field))) report({ secret: value.slice(0, MOST) });
  };
}
