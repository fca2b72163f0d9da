import { isSecret } from '../../capture/page/secret.ts';

/** Returns the element with the focus, also inside open shadow trees. */
export function activeElement(): Element | null {
  let element = document.activeElement;
  for (let inner; (inner = element?.shadowRoot?.activeElement); ) element = inner;
  return element;
}

const TYPES = new Set(['text', 'password', 'email', 'tel', 'number', 'url', 'search']);
const MODES: Record<string, string> = { none: 'none', numeric: 'numeric', decimal: 'number', tel: 'tel', search: 'search', email: 'email', url: 'url' };

/** Returns the kind of text that an element takes, or empty for none. Those of secrets (password, otp, card) come first, then the kind of keyboard that the page asks for. */
export function kindOf(element: Element | null): string {
  if (!(element instanceof HTMLElement)) return '';
  const { inputMode } = element;
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    const { type, autocomplete, readOnly } = element;
    const lines = type === 'textarea';
    if (readOnly || element.matches(':disabled') || !(lines || TYPES.has(type))) return '';
    const filling = autocomplete.split(/\s+/).pop() ?? '';
    if (isSecret(element)) return filling === 'one-time-code' ? 'otp' : filling.startsWith('cc-') && type !== 'password' ? 'card' : 'password';
    if (MODES[inputMode]) return MODES[inputMode];
    if (lines) return 'multiline';
    return type === 'text' && ['email', 'tel', 'url'].includes(filling) ? filling : type;
  }
  if (element.isContentEditable && isSecret(element)) return 'password';
  return element.isContentEditable ? (MODES[inputMode] ?? 'multiline') : '';
}
