/** The secret of a share link is in its fragment, which browsers never send. */

/** Returns the secret in the address, or "". */
export function linkSecret(): string {
  return location.hash.slice(1);
}

/** Removes the secret from the address, because it is no longer needed. */
export function hideLinkSecret(): void {
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
}

/** Loads the page again when somebody enters another link to it. Only the fragment changes then, so the browser does not load it by itself. */
export function followLinks(): void {
  window.addEventListener('hashchange', () => linkSecret() && location.reload());
}
