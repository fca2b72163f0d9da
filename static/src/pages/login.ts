import { byId, show } from '../dom.js';

/** The sign-in link that the server prints carries the key in its fragment, which is sent to nobody until the form is. */
const form = byId<HTMLFormElement>('login-form');
const key = byId<HTMLInputElement>('key');
const given = new URLSearchParams(location.hash.slice(1)).get('key');
if (given) {
  history.replaceState(null, '', location.pathname + location.search);
  key.value = given;
  form.requestSubmit();
}

form.addEventListener('submit', () => {
  form.querySelector('[type=submit]')?.setAttribute('aria-busy', 'true');
});
key.addEventListener('input', () => {
  key.removeAttribute('aria-invalid');
  show(byId('login-error'), false);
});
window.addEventListener('pageshow', () => form.querySelector('[type=submit]')?.removeAttribute('aria-busy'));
