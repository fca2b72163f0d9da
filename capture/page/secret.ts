/**
 * Fields that were secret once: a page may reveal a password by changing the field's type.
 */
const known = new WeakSet<Element>();

/** The values of autocomplete whose fields are secret. */
const FILLED_WITH_SECRETS = /(^|\s)(cc-\S+|one-time-code|(current|new)-password)(\s|$)/i;

/**
 * Returns whether what an element holds is secret: a password, a code, a card, or a text that the page shows as dots, as pages make their own password
 * fields. All of the server's scripts in pages ask here.
 */
export function isSecret(element: Element): boolean {
  const is =
    known.has(element) ||
    (element instanceof HTMLInputElement && element.type === 'password') ||
    FILLED_WITH_SECRETS.test(element.getAttribute('autocomplete') ?? '') ||
    !['', 'none'].includes(getComputedStyle(element).getPropertyValue('-webkit-text-security'));
  if (is) known.add(element);
  return is;
}

/** Returns what a secret field holds, or empty for an element that holds nothing. */
export function contentOf(field: Element): string {
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) return field.value;
  return field instanceof HTMLElement && field.isContentEditable ? (field.textContent ?? '') : '';
}
