import { type ThreadAddress, threadAddress } from "../thread/thread-address.js";
import { type RouteContext, type RouteParts, requireAgent, type SignedIn } from "./ingress.js";

/** The caller's thread that the path names by `:agentId` and `:threadName`. */
export async function threadOf(
  c: RouteContext,
  parts: RouteParts,
  { caller }: Pick<SignedIn, "caller">,
): Promise<ThreadAddress> {
  const { graphName } = await requireAgent(parts, c.req.param("agentId") ?? "");
  return threadAddress(caller, graphName, c.req.param("threadName") ?? "");
}
