import { threadAddress } from "../hub/thread-address.js";
import { openStream, type RouteParts, requireAgent, signIn } from "./ingress.js";
import { cursorOf } from "./last-event-id.js";
import type { Route } from "./route-table.js";
import { watchOnStream } from "./watch-stream.js";

/** A thread's log as envelopes: all that is kept, or what follows a cursor, then what comes unless `follow=false`. */
export function eventsRoute(parts: RouteParts): Route {
  return {
    method: "GET",
    path: "/agents/:agentId/threads/:threadName/events",
    isStream: true,
    async handle(c) {
      const { caller, credentials, limits } = await signIn(c, parts);
      const agent = await requireAgent(parts, c.req.param("agentId") ?? "");
      const thread = threadAddress(caller, agent.graphName, c.req.param("threadName") ?? "");
      const watching = parts.usage.watch(caller.billingAccountId, limits);
      const { stream, response } = openStream(c, parts, watching);
      const cursor = cursorOf(c.req.raw.headers);
      watchOnStream({
        hub: parts.service.hub,
        clock: parts.clock,
        thread,
        options: {
          face: { kind: "envelopes" },
          from: cursor === undefined ? { kind: "nothing" } : { kind: "cursor", cursor },
          follow: !["false", "0"].includes(c.req.query("follow") ?? ""),
        },
        stream,
        expiresAt: credentials.expiresAt,
        lastWords: () => [],
      });
      return response;
    },
  };
}
