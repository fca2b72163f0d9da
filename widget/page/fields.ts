/** Returns the element with the focus, also inside open shadow trees. */
export function activeElement(): Element | null {
  let element = document.activeElement;
  for (let inner; (inner = element?.shadowRoot?.activeElement); ) element = inner;
  return element;
}

const TYPES = new Set(['text', 'password', 'email', 'tel', 'number', 'url', 'search']);
const MODES: Record<string, string> = { none: 'none', numeric: 'numeric', decimal: 'number', tel: 'tel', search: 'search', email: 'email', url: 'url' };

/** The kinds of fields whose content is secret. */
export const SECRET = new Set(['password', 'otp', 'card']);

/** Fields that were password fields: a page may reveal a password by changing the field's type. */
const passwords = new WeakSet<Element>();

/** Returns whether a field hides its text, for example behind dots, as pages make their own password fields. */
export function isMasked(element: Element): boolean {
  return !['', 'none'].includes(getComputedStyle(element).getPropertyValue('-webkit-text-security'));
}

/** Returns the kind of text that an element takes, or empty for none. Secret kinds come first, then the kind of keyboard that the page asks for. */
export function kindOf(element: Element | null): string {
  if (!(element instanceof HTMLElement)) return '';
  const { inputMode } = element;
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    const { type, autocomplete, readOnly } = element;
    const lines = type === 'textarea';
    if (readOnly || element.matches(':disabled') || !(lines || TYPES.has(type))) return '';
    const filling = autocomplete.split(/\s+/).pop() ?? '';
    if (type === 'password') {
      passwords.add(element);
      return filling === 'one-time-code' ? 'otp' : 'password';
    }
    if (filling.endsWith('-password') || passwords.has(element)) return 'password';
    if (filling === 'one-time-code') return 'otp';
    if (filling.startsWith('cc-')) return 'card';
    if (isMasked(element)) {
      passwords.add(element);
      return 'password';
    }
    if (MODES[inputMode]) return MODES[inputMode];
    if (lines) return 'multiline';
    return type === 'text' && ['email', 'tel', 'url'].includes(filling) ? filling : type;
  }
  if (element.isContentEditable && isMasked(element)) return 'password';
  return element.isContentEditable ? (MODES[inputMode] ?? 'multiline') : '';
}
