import { kindOf } from './fields.ts';

/** The kinds of field whose content is secret. */
const SECRET = new Set(['password', 'otp', 'card']);
/** How much of a value is told (UTF-16 units): longer ones are nothing that a person types. */
const MOST = 512;

/** Makes the listener that tells what stands in a secret field each time that it changes. */
export function secretTyped(report: (message: object) => void): (event: Event) => void {
  return (event) => {
    const field = event.composedPath()[0];
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
    if (field.value && SECRET.has(kindOf(field))) report({ secret: field.value.slice(0, MOST) });
  };
}
