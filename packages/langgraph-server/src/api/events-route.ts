import { envelopeSchema } from "@throughline/ai-core";
import { earlyEndError } from "../http/early-end.js";
import { followOf, followQuerySchema } from "../http/follow-query.js";
import { openStream, type RouteParts } from "../http/ingress.js";
import { cursorOf, lastEventIdHeaders } from "../http/last-event-id.js";
import type { ActionRoute } from "../http/route-table.js";
import { type Ending, subscribeOnStream } from "../http/subscribe-stream.js";
import { threadOf } from "../http/thread-of.js";
import { encodeSseFrame } from "../hub/sse-frame.js";
import type { ThreadHub } from "../hub/thread-hub.js";

/** A thread's log as envelopes: all that is kept, or what follows a cursor, then what comes unless `follow=false`. */
export function eventsRoute(parts: RouteParts<{ readonly hub: ThreadHub }>): ActionRoute {
  return {
    method: "GET",
    path: "/agents/:agentId/threads/:threadName/events",
    action: "read",
    isStream: true,
    doc: {
      summary: "Read a thread's log, and what follows",
      description:
        "All that is kept, or what follows a cursor, then what comes unless `follow` is false. An envelope that stands for several, since the log was compacted, says so in `merged`. A deleted thread ends with an `error` event.",
      tag: "threads",
      query: followQuerySchema,
      headers: lastEventIdHeaders,
      answer: { status: 200, description: "One envelope an event", events: envelopeSchema },
      errors: ["rate_limited"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const { caller, credentials, limits } = who;
      const follow = followOf(c) ?? true;
      const watching = await parts.usage.watch(caller.billingAccountId, limits);
      const { stream, response } = openStream(c, parts, watching);
      const cursor = cursorOf(c.req.raw.headers);
      subscribeOnStream({
        hub: parts.service.hub,
        clock: parts.clock,
        thread,
        options: {
          face: { kind: "envelopes" },
          from: cursor === undefined ? { kind: "nothing" } : { kind: "cursor", cursor },
          follow,
        },
        stream,
        expiresAt: credentials.expiresAt,
        lastWords,
      });
      return response;
    },
  };
}

/** Any other reader comes back and goes on; one of a deleted thread would come back for ever. */
function lastWords({ reason }: Ending): readonly Buffer[] {
  if (reason !== "deleted") return [];
  const { code, message } = earlyEndError(reason);
  return [encodeSseFrame({ event: "error", data: JSON.stringify({ code, message }) })];
}
