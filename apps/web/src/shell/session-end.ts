let isSigningOut = false;

/** The cookie expired, and the page shows what no signed-in person may see. A person who signs out is leaving already. */
export function sessionRanOut(): void {
  if (!isSigningOut) location.assign(`/sign-in?to=${encodeURIComponent(location.pathname)}`);
}

/** `false`: it could not be ended. */
export async function endSession(): Promise<boolean> {
  isSigningOut = true;
  const answer = await fetch("/api/session", { method: "DELETE" }).catch(() => undefined);
  isSigningOut = answer?.ok ?? false;
  // The browser's back button may restore this very page.
  addEventListener("pageshow", forget, { once: true });
  return isSigningOut;
}

function forget(): void {
  isSigningOut = false;
}
