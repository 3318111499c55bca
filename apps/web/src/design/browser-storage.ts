/** `null` where the browser keeps nothing for this page, as with site data blocked. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** A browser that is full, or keeps nothing, refuses: then it is kept until the page closes, and no longer. */
export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {}
}
