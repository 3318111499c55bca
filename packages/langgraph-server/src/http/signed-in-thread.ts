import { type ThreadAddress, threadAddress } from "../thread/thread-address.js";
import { type RouteContext, type RouteParts, requireAgent, type SignedIn, signIn } from "./ingress.js";

/** Who asks, and the thread of theirs that the path names by `:agentId` and `:threadName`. */
export async function signedInThread(
  c: RouteContext,
  parts: RouteParts,
): Promise<{ readonly who: SignedIn; readonly thread: ThreadAddress }> {
  const who = await signIn(c, parts);
  const { graphName } = await requireAgent(parts, c.req.param("agentId") ?? "");
  return { who, thread: threadAddress(who.caller, graphName, c.req.param("threadName") ?? "") };
}
