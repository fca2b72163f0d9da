import { contentOf, isSecret } from '../../capture/page/secret.ts';

/** How much of a value is reported, in UTF-16 units. People do not type longer secrets. */
const MOST = 512;

/** Returns a listener that reports the content of a secret field whenever it changes. */
export function secretTyped(report: (message: object) => void): (event: Event) => void {
  return (event) => {
    const field = event.composedPath()[0];
    if (!(field instanceof HTMLElement)) return;
    const value = contentOf(field);
    if (value && isSecret(field)) report({ secret: value.slice(0, MOST) });
  };
}

const FIELDS = 'input, textarea, [contenteditable]';
/** The maximum number of secrets that are reported at once. */
const MOST_FIELDS = 100;

/** Returns what the secret fields of the document hold. */
export function secretsHeld(root: Document | ShadowRoot = document): string[] {
  const held = [...root.querySelectorAll(FIELDS)].filter(isSecret).map((field) => contentOf(field).slice(0, MOST));
  const inside = [...root.querySelectorAll('*')].flatMap(({ shadowRoot }) => (shadowRoot ? secretsHeld(shadowRoot) : []));
  return [...held, ...inside].filter(Boolean).slice(0, MOST_FIELDS);
}
