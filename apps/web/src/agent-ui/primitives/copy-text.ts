/** Writes to the clipboard. Returns whether that succeeded: browsers refuse it to a page without focus. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
