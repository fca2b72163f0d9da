import { byId, show } from '../ui/dom.js';

/**
 * Shows that signing in is running, and removes an error when the key changes. The code of a sign-in link is sent at once. It is never sent by loading
 * an address, because any page of another site can make a browser do that.
 */
const form = byId<HTMLFormElement>('login-form');

form.addEventListener('submit', () => {
  form.querySelector('[type=submit]')?.setAttribute('aria-busy', 'true');
});
window.addEventListener('pageshow', () => form.querySelector('[type=submit]')?.removeAttribute('aria-busy'));
if ('code' in form.dataset) {
  form.requestSubmit();
} else {
  const key = byId<HTMLInputElement>('key');
  key.addEventListener('input', () => {
    key.removeAttribute('aria-invalid');
    show(byId('login-error'), false);
  });
}
