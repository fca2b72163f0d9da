/**
 * What the pages remember in the browser. In a frame of another site, or with
 * storage blocked, a browser may refuse; then nothing is remembered.
 */

/** Returns what this browser remembers, empty when there is nothing. */
export function read(key: string): string {
  return allowed(() => localStorage.getItem(key)) ?? '';
}

/** Remembers a value in this browser; an empty one is forgotten. */
export function write(key: string, value: string): void {
  allowed(() => (value ? localStorage.setItem(key, value) : localStorage.removeItem(key)));
}

/** Returns what this tab remembers until it is closed. */
export function recall(key: string): string | null {
  return allowed(() => sessionStorage.getItem(key));
}

/** Remembers a value until this tab is closed; null forgets it. Returns false when the browser refuses. */
export function keep(key: string, value: string | null): boolean {
  return allowed(() => {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
    return true;
  }) ?? false;
}

/** Runs an access to storage, which throws where the browser refuses it. */
function allowed<T>(access: () => T): T | null {
  try {
    return access();
  } catch {
    return null;
  }
}
