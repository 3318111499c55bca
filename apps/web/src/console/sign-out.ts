import { forgetPageDrafts } from "../composer/drafts";
import { endSession } from "../service/session-end";

/**
 * Ends the session, and leaves the page with it: nothing of an account may stay in memory, nor what it began to write in the
 * browser. `false`: it could not be ended.
 */
export async function signOut(): Promise<boolean> {
  if (!(await endSession())) return false;
  forgetPageDrafts();
  location.assign("/sign-in");
  return true;
}
