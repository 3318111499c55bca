import { type GraphDescriptor, newRunId, ThroughlineError } from "@throughline/ai-core";
import { addressOf } from "../http/address-of.js";
import { followOf } from "../http/follow-query.js";
import { openStream, type RouteContext, type RouteParts, type SignedIn } from "../http/ingress.js";
import { cursorOf } from "../http/last-event-id.js";
import { subscribeOnStream } from "../http/subscribe-stream.js";
import { threadFor } from "../http/thread-of.js";
import type { ThreadHub } from "../hub/thread-hub.js";
import { agUiLastWords, failureFrames } from "./ag-ui-frames.js";
import type { RunAgentInput } from "./run-agent-input.js";
import { faceOf } from "./run-input.js";

/** Shows a thread as it stands, then what happens in it: to the end of the run that is open, or with `follow` from then on. */
export async function connectAgent(
  c: RouteContext,
  parts: RouteParts<{ readonly hub: ThreadHub }>,
  who: SignedIn,
  agent: GraphDescriptor,
  input: RunAgentInput,
): Promise<Response> {
  const { caller, credentials, limits } = who;
  const options = input.forwardedProps?.throughline ?? {};
  const follow = options.follow ?? followOf(c) ?? false;
  const threadName = input.threadId ?? "";
  const ids = { threadName, runId: input.runId ?? newRunId(parts.clock) };
  const { graphName } = agent;
  const { visibility } = options;
  const thread = threadName === "" ? undefined : threadFor(who, { graphName, threadName, visibility });
  const watching = await parts.usage.watch(caller.billingAccountId, limits);
  const { stream, response } = openStream(c, parts, watching);
  if (!thread) {
    const missing = new ThroughlineError(
      "invalid_input",
      "threadId: is missing; name the thread to connect to",
      {
        details: { field: "threadId" },
      },
    );
    stream.write(failureFrames(ids, missing));
    stream.end();
    return response;
  }
  const cursor = cursorOf(c.req.raw.headers, input.lastSeenEventId);
  subscribeOnStream({
    hub: parts.service.hub,
    clock: parts.clock,
    thread,
    options: {
      face: { kind: "ag-ui", ...faceOf(input, addressOf(c, parts)) },
      from: cursor === undefined ? { kind: "nothing" } : { kind: "cursor", cursor },
      follow,
    },
    stream,
    expiresAt: credentials.expiresAt,
    lastWords: (ending, hasFrames) => agUiLastWords(ids, ending, hasFrames),
  });
  return response;
}
