let isSigningOut = false;

/** The cookie ran out: whatever the page shows belongs to nobody who is signed in. Whoever signs out is on their way already. */
export function sessionRanOut(): void {
  if (!isSigningOut) location.assign(`/sign-in?to=${encodeURIComponent(location.pathname)}`);
}

/** `false`: it could not be ended. */
export async function endSession(): Promise<boolean> {
  isSigningOut = true;
  const answer = await fetch("/api/session", { method: "DELETE" }).catch(() => undefined);
  isSigningOut = answer?.ok ?? false;
  // Somebody may come back to this very page by the browser's own way.
  addEventListener("pageshow", forget, { once: true });
  return isSigningOut;
}

function forget(): void {
  isSigningOut = false;
}
