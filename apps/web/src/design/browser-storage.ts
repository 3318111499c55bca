/** `null` where the browser keeps nothing for this page, as with site data blocked. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** A browser that is full, or keeps nothing, refuses: then it counts until the page closes, and no longer. `null`: deletes. */
export function store(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // See above.
  }
}
