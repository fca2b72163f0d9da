/** Values that the pages keep in the browser. In a frame of another site, or with storage blocked, a browser may refuse; then nothing is kept. */

/** A value that this browser keeps, or an empty text. */
export function read(key: string): string {
  return allowed(() => localStorage.getItem(key)) ?? '';
}

/** Keeps a value in this browser; an empty one is removed. */
export function write(key: string, value: string): void {
  allowed(() => (value ? localStorage.setItem(key, value) : localStorage.removeItem(key)));
}

/** A value that this tab keeps until it is closed. */
export function recall(key: string): string | null {
  return allowed(() => sessionStorage.getItem(key));
}

/** Keeps a value until this tab is closed; null removes it. Returns false when the browser refuses. */
export function keep(key: string, value: string | null): boolean {
  return allowed(() => {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
    return true;
  }) ?? false;
}

/** Accesses storage, which throws when the browser refuses. */
function allowed<T>(access: () => T): T | null {
  try {
    return access();
  } catch {
    return null;
  }
}
