/** Ends the session, and leaves the page with it: nothing of an account may stay in memory. `false`: it could not be ended. */
export async function signOut(): Promise<boolean> {
  const answer = await fetch("/api/session", { method: "DELETE" }).catch(() => undefined);
  if (!answer?.ok) return false;
  location.assign("/sign-in");
  return true;
}
