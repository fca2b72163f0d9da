/** Values that the pages store in the browser. In a frame of another site, or if storage is blocked, a browser may refuse; then nothing is stored. */

/** Returns a value that this browser has stored, or an empty text. */
export function read(key: string): string {
  return allowed(() => localStorage.getItem(key)) ?? '';
}

/** Stores a value in this browser. An empty value is removed. */
export function write(key: string, value: string): void {
  allowed(() => (value ? localStorage.setItem(key, value) : localStorage.removeItem(key)));
}

/** Returns a value that this tab stores until it is closed. */
export function recall(key: string): string | null {
  return allowed(() => sessionStorage.getItem(key));
}

/** Stores a value until this tab is closed; null removes it. Returns false if the browser refuses. */
export function keep(key: string, value: string | null): boolean {
  return allowed(() => {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
    return true;
  }) ?? false;
}

/** Accesses storage, which throws if the browser refuses. */
function allowed<T>(access: () => T): T | null {
  try {
    return access();
  } catch {
    return null;
  }
}
