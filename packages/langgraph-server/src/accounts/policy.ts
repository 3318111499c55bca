import { ThroughlineError } from "@throughline/ai-core";
import { ACTIONS, type Action, REACHES, type Reach, type Role, TRUSTED_SERVICE_ACTIONS } from "./actions.js";

export interface Actor {
  readonly role: Role;
  readonly isTrustedService?: boolean | undefined;
}

/** The one decision on what a caller may do. Which account and which person they are was decided at sign-in. */
export function may({ role, isTrustedService }: Actor, action: Action, reach: Reach): boolean {
  if (isTrustedService && TRUSTED_SERVICE_ACTIONS.has(action)) return true;
  const granted: Reach | undefined = ACTIONS[action].reach[role];
  return granted !== undefined && REACHES.indexOf(reach) <= REACHES.indexOf(granted);
}

/** The caller's reach for an action; `undefined` where it is denied. */
export function reachOf(actor: Actor, action: Action): Reach | undefined {
  return REACHES.findLast((reach) => may(actor, action, reach));
}

/** Completes the sentence that a refusal begins. */
const WHERE: Readonly<Record<Reach, string>> = {
  own: "",
  account: " that the account shares",
  everyone: " of other people or of the whole account",
};

/** Throws `forbidden` naming the role and the action. */
export function requireAllowed(actor: Actor, action: Action, reach: Reach): void {
  if (may(actor, action, reach)) return;
  throw new ThroughlineError(
    "forbidden",
    `The role ${actor.role} may not ${ACTIONS[action].does}${WHERE[reach]} (action ${action}).`,
    { details: { role: actor.role, action, reach } },
  );
}
