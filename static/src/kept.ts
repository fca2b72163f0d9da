/** What this tab remembers until it is closed. In a frame of another site browsers may refuse to; then it forgets. */

export function recall(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Remembers a value, or with null forgets it. False when the browser refused. */
export function keep(key: string, value: string | null): boolean {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}
