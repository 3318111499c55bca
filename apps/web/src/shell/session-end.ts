let isSigningOut = false;

/** Goes to the sign-in page: the session expired, and the page shows private data. A sign-out in progress leaves already. */
export function sessionRanOut(): void {
  if (!isSigningOut) location.assign(`/sign-in?to=${encodeURIComponent(location.pathname)}`);
}

/** Ends the session; `false`: that failed. */
export async function endSession(): Promise<boolean> {
  isSigningOut = true;
  const response = await fetch("/api/session", { method: "DELETE" }).catch(() => undefined);
  isSigningOut = response?.ok ?? false;
  // The browser's back button may restore this very page.
  addEventListener("pageshow", forget, { once: true });
  return isSigningOut;
}

function forget(): void {
  isSigningOut = false;
}
