import type { SignedIn } from "../http/ingress.js";
import { reachOf } from "../policy/may.js";
import { actorOf } from "../tenancy/caller-resolver.js";

/**
 * Whose spending a caller sees: the account's where their permission goes that far, else their own. `undefined` is every
 * person of the account. A caller who is no person has nothing of their own.
 */
export function spendScopeOf(who: SignedIn, asked?: string): string | undefined {
  const { subject: own } = who.caller;
  const subject = asked ?? (seesEveryone(who) ? undefined : own);
  who.requireReach(subject !== undefined && subject === own ? "own" : "everyone");
  return subject;
}

export function seesEveryone(who: SignedIn): boolean {
  return reachOf(actorOf(who.credentials), who.action) === "everyone";
}
