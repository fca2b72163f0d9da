import { byId, show } from '../ui/dom.js';

/** Shows that signing in is running, and removes an error when the key changes. */
const form = byId<HTMLFormElement>('login-form');
const key = byId<HTMLInputElement>('key');

form.addEventListener('submit', () => {
  form.querySelector('[type=submit]')?.setAttribute('aria-busy', 'true');
});
key.addEventListener('input', () => {
  key.removeAttribute('aria-invalid');
  show(byId('login-error'), false);
});
window.addEventListener('pageshow', () => form.querySelector('[type=submit]')?.removeAttribute('aria-busy'));
