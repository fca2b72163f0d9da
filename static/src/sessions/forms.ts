import { APIError } from '../ui/api.js';
import { h } from '../ui/dom.js';
import { formError } from '../ui/menus.js';
import { capital } from '../ui/titles.js';

/** Removes the errors from a form. */
export function clearErrors(form: HTMLFormElement): void {
  formError(form, '');
  for (const said of form.querySelectorAll('.field-error')) said.remove();
  for (const input of form.querySelectorAll('[aria-invalid]')) {
    input.removeAttribute('aria-invalid');
    input.removeAttribute('aria-describedby');
  }
}

/** Shows the errors of a form: errors of a field next to that field, and the others at the bottom. */
export function showErrors(form: HTMLFormElement, error: unknown): void {
  const rest: string[] = [];
  let first: HTMLElement | null = null;
  for (const problem of error instanceof APIError ? error.fields : []) {
    const input = [...form.elements].find((element) => (element as HTMLInputElement).dataset.field === problem.field);
    if (!(input instanceof HTMLElement)) {
      rest.push(`${problem.field}: ${problem.error}`);
      continue;
    }
    const id = `${form.id}-${problem.field.replaceAll('.', '-')}-error`;
    input.setAttribute('aria-invalid', 'true');
    input.setAttribute('aria-describedby', id);
    input.closest('.field')?.append(h('span', { class: 'field-error', id, text: sentence(problem.error) }));
    first ??= input;
  }
  if (!(error instanceof APIError && error.fields.length)) rest.push(error instanceof Error ? error.message : String(error));
  formError(form, rest.join('; '));
  first?.focus();
}

function sentence(text: string): string {
  return `${capital(text)}.`;
}
