import type { Caller } from "@throughline/ai-core";
import type { ThreadScope } from "@throughline/thread-log";
import { z } from "zod";
import { type ThreadAddress, threadAddress } from "../thread/thread-address.js";
import { callerIn, threadVisibilitySchema, type Visibility, visibilityOf } from "../thread/visibility.js";
import { queryOf } from "./checked-request.js";
import { type RouteContext, type RouteParts, requireAgent, type SignedIn } from "./ingress.js";

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
