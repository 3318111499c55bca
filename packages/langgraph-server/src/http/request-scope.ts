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
import { type App, type AuthorizedRequest, parseQuery, type RouteContext, requireAgent } from "./request.js";

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
 * Resolves a thread of the caller or of the account, within the caller's reach. Throws `forbidden`. `caller`: for whom a
 * trusted service acts.
 */
export function threadFor(
  who: AuthorizedRequest,
  { graphName, threadName, visibility }: NamedThread,
  caller: Caller = who.caller,
): ThreadAddress {
  requireVisible(who, visibility, caller);
  const thread = threadAddress(callerIn(caller, visibility), graphName, threadName);
  who.audit({ thread });
  return thread;
}

/** Throws `forbidden` if the thread is not the caller's own and the caller's reach is. */
function requireVisible(
  who: AuthorizedRequest,
  visibility: Visibility | undefined,
  caller = who.caller,
): void {
  const isShared = visibility === "account" && visibilityOf(caller) === "private";
  who.requireReach(isShared ? "account" : "own");
}

/** Returns the scope of a list of threads. */
export function listScope(who: AuthorizedRequest, asked: z.output<typeof listVisibilitySchema>): ThreadScope {
  const { billingAccountId: account, subject } = who.caller;
  if (asked === "all") {
    requireVisible(who, "account");
    return { account, subject, withShared: true };
  }
  requireVisible(who, asked);
  return { account, subject: callerIn(who.caller, asked).subject };
}

/** Resolves the thread that the path names by `:agentId` and `:threadName`, and the query by `visibility`. */
export async function threadOf(c: RouteContext, parts: App, who: AuthorizedRequest): Promise<ThreadAddress> {
  const { graphName } = await requireAgent(parts, c.req.param("agentId") ?? "");
  const { visibility } = parseQuery(c, visibilityQuerySchema);
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

/** Resolves the account and person of a request. Another person's data, and all of the account's, needs a wider reach. */
export function accountScopeOf(
  who: AuthorizedRequest,
  asked: z.output<typeof accountScopeSchema>,
): AccountScope {
  const { billingAccountId, subject: own } = who.caller;
  const isTrusted = who.credentials.isTrustedService === true;
  const account = asked.accountId ?? billingAccountId;
  if (account !== billingAccountId && !isTrusted) {
    throw new ThroughlineError("forbidden", "accountId: another account's data needs a trusted service");
  }
  who.audit({ account });
  const subject = asked.subject ?? (isTrusted ? undefined : own);
  const isOwn = subject !== undefined && subject === own && account === billingAccountId;
  who.requireReach(isOwn ? "own" : "everyone");
  return { account, subject };
}

/**
 * Resolves whose spending a caller sees: the account's where their reach allows it, else their own. `undefined` is every
 * person of the account. A caller who is no person has nothing of their own.
 */
export function spendScopeOf(who: AuthorizedRequest, asked?: string): string | undefined {
  const { subject: own } = who.caller;
  const subject = asked ?? (seesEveryone(who) ? undefined : own);
  who.requireReach(subject !== undefined && subject === own ? "own" : "everyone");
  return subject;
}

export function seesEveryone(who: AuthorizedRequest): boolean {
  return reachOf(actorOf(who.credentials), who.action) === "everyone";
}
