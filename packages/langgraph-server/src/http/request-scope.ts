import { accountIdSchema, type Caller, subjectSchema, ThroughlineError } from "@throughline/ai-core";
import type { ThreadScope } from "@throughline/thread-log";
import { z } from "zod";
import { actorOf } from "../accounts/callers.js";
import { reachOf } from "../accounts/policy.js";
import {
  callerIn,
  type ThreadAddress,
  threadAddress,
  threadVisibilitySchema,
  type Visibility,
  visibilityOf,
} from "../threads/thread-address.js";
import { queryOf, type RouteContext, type RouteParts, requireAgent, type SignedIn } from "./request.js";

export const visibilityQuerySchema = z.object({ visibility: threadVisibilitySchema });

export const listVisibilitySchema = z
  .enum(["private", "account", "all"])
  .optional()
  .describe("Whose threads: the caller's own, the account's, or both. Default: `private` for a person.");

export interface NamedThread {
  readonly graphName: string;
  readonly threadName: string;
  readonly visibility?: Visibility | undefined;
}

/**
 * The caller's thread, or the account's, as far as the caller's permission goes. Throws `forbidden`. `caller`: for whom a
 * trusted service acts.
 */
export function threadFor(
  who: SignedIn,
  { graphName, threadName, visibility }: NamedThread,
  caller: Caller = who.caller,
): ThreadAddress {
  requireVisible(who, visibility, caller);
  const thread = threadAddress(callerIn(caller, visibility), graphName, threadName);
  who.note({ thread });
  return thread;
}

/** Throws `forbidden` where the caller's permission ends at what is their own, and this is not. */
function requireVisible(who: SignedIn, visibility: Visibility | undefined, caller = who.caller): void {
  const isShared = visibility === "account" && visibilityOf(caller) === "private";
  who.requireReach(isShared ? "account" : "own");
}

/** Which threads a list is of. */
export function listScope(who: SignedIn, asked: z.output<typeof listVisibilitySchema>): ThreadScope {
  const { billingAccountId: account, subject } = who.caller;
  if (asked === "all") {
    requireVisible(who, "account");
    return { account, subject, withShared: true };
  }
  requireVisible(who, asked);
  return { account, subject: callerIn(who.caller, asked).subject };
}

/** The thread that the path names by `:agentId` and `:threadName`, and the query by `visibility`. */
export async function threadOf(c: RouteContext, parts: RouteParts, who: SignedIn): Promise<ThreadAddress> {
  const { graphName } = await requireAgent(parts, c.req.param("agentId") ?? "");
  const { visibility } = queryOf(c, visibilityQuerySchema);
  return threadFor(who, { graphName, threadName: c.req.param("threadName") ?? "", visibility });
}

/** Names an account, or one person of it. */
export const accountScopeSchema = z.object({
  accountId: accountIdSchema.optional().describe("Another account than the caller's; for trusted services."),
  subject: subjectSchema
    .optional()
    .describe(
      "One person's data; another's is for admins. Without it the caller's own, or the whole account's where the caller is no person.",
    ),
});

export interface AccountScope {
  readonly account: string;
  /** `undefined` is every subject. */
  readonly subject: string | undefined;
}

/** A person acts on their own data; another person's, and all of the account's, needs a permission that goes further. */
export function accountScopeOf(who: SignedIn, asked: z.output<typeof accountScopeSchema>): AccountScope {
  const { billingAccountId, subject: own } = who.caller;
  const isTrusted = who.credentials.isTrustedService === true;
  const account = asked.accountId ?? billingAccountId;
  if (account !== billingAccountId && !isTrusted) {
    throw new ThroughlineError("forbidden", "accountId: another account's data needs a trusted service");
  }
  who.note({ account });
  const subject = asked.subject ?? (isTrusted ? undefined : own);
  const isOwn = subject !== undefined && subject === own && account === billingAccountId;
  who.requireReach(isOwn ? "own" : "everyone");
  return { account, subject };
}

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
