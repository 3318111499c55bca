import { type ErrorCode, type GraphDescriptor, newRunId, ThroughlineError } from "@throughline/ai-core";
import type { Arrival } from "../commands/arrivals.js";
import { type CommandLane, laneOf } from "../commands/command-lane.js";
import type { RunService, StartRunRequest } from "../drive/run-service.js";
import { type AcceptedStart, requireAccepted } from "../drive/start-refusal.js";
import { openStream, type RouteContext, type RouteParts, type SignedIn } from "../http/ingress.js";
import { cursorOf } from "../http/last-event-id.js";
import { subscribeOnStream } from "../http/subscribe-stream.js";
import type { SubscribeFrom, ThreadHub } from "../hub/thread-hub.js";
import { type ThreadAddress, threadAddress } from "../thread/thread-address.js";
import { agUiLastWords, emptyRunFrames, failureFrames } from "./ag-ui-frames.js";
import { pollFrames } from "./poll-frames.js";
import type { RunAgentInput } from "./run-agent-input.js";
import { contextOf, faceOf, runInputOf, toolsOf } from "./run-input.js";

/** What AG-UI runs need of the service. */
export type RunParts = RouteParts<{
  readonly runs: RunService;
  readonly hub: ThreadHub;
}>;

const RETRYABLE: ReadonlySet<ErrorCode> = new Set(["rate_limited", "store_unavailable"]);

/**
 * Starts a run and streams it. The request was accepted when this is called: whatever goes wrong now, but for a limit and a
 * store that is away, is told as a run that failed, because stock clients see nothing else.
 */
export async function runAgent(
  c: RouteContext,
  parts: RunParts,
  { caller, credentials, limits }: SignedIn,
  agent: GraphDescriptor,
  input: RunAgentInput,
  arrival: Arrival,
): Promise<Response> {
  const { service, clock, usage } = parts;
  const account = caller.billingAccountId;
  const threadName = input.threadId ?? "";
  const ids = { threadName, runId: input.runId ?? newRunId(clock) };
  const cursor = cursorOf(c.req.raw.headers, input.lastSeenEventId);
  const watching = await usage.watch(account, limits);

  function answer(frames: readonly Buffer[]): Response {
    const { stream, response } = openStream(c, parts, watching);
    stream.write(frames);
    stream.end();
    return response;
  }

  async function begin(): Promise<Response> {
    if (threadName === "") {
      throw new ThroughlineError(
        "invalid_input",
        "threadId: is missing; name the thread this run belongs to",
        {
          details: { field: "threadId" },
        },
      );
    }
    const thread = threadAddress(caller, agent.graphName, threadName);
    const lane = laneOf(agent, input.forwardedProps?.throughline ?? {});
    switch (lane.kind) {
      case "poll":
        return answer(pollFrames(await service.hub.read(thread, cursor), { ...ids, ...faceOf(input) }));
      case "stop": {
        const stopped = await service.runs.stop(thread, lane.runId);
        return answer(emptyRunFrames(ids, { stop: stopped.kind }));
      }
      case "run":
        return stream(thread, await start(thread, lane));
    }
  }

  async function start(
    thread: ThreadAddress,
    { command, strategy }: Extract<CommandLane, { kind: "run" }>,
  ): Promise<AcceptedStart> {
    const options = input.forwardedProps?.throughline ?? {};
    if (options.profile === "debug" && !parts.allowDebug) {
      throw new ThroughlineError(
        "invalid_input",
        "forwardedProps.throughline.profile: debug is not allowed here",
        {
          details: { field: "forwardedProps.throughline.profile" },
        },
      );
    }
    const request: StartRunRequest = {
      thread,
      caller,
      ingressRequestId: c.get("trace").requestId,
      traceparent: c.get("trace").traceparent,
      clientRunId: input.runId ?? undefined,
      arrival,
      input: runInputOf(input),
      tools: toolsOf(input),
      context: contextOf(input),
      command,
      model: options.model,
      profile: options.profile ?? "user",
      strategy,
    };
    return requireAccepted(await service.runs.start(request));
  }

  function stream(thread: ThreadAddress, { kind, run }: AcceptedStart): Response {
    const holds = {
      messageIds: (input.messages ?? []).flatMap((message) =>
        "id" in message && message.id ? [message.id] : [],
      ),
      state: input.state ?? {},
    };
    const from: SubscribeFrom =
      kind === "attached" && cursor !== undefined
        ? { kind: "cursor", cursor }
        : { kind: "run", runId: run.runId, isNew: kind === "started" || kind === "queued", holds };
    const opened = openStream(c, parts, watching);
    subscribeOnStream({
      hub: service.hub,
      clock,
      thread,
      options: { face: { kind: "ag-ui", ...faceOf(input) }, from, follow: false },
      stream: opened.stream,
      expiresAt: credentials.expiresAt,
      lastWords: (ending, hasFrames) => agUiLastWords(ids, ending, hasFrames),
    });
    return opened.response;
  }

  try {
    return await begin();
  } catch (error) {
    // Nothing was begun, and the same request may be sent again.
    if (error instanceof ThroughlineError && RETRYABLE.has(error.code)) {
      watching.leave();
      throw error;
    }
    if (!(error instanceof ThroughlineError))
      c.get("logger").error({ err: error }, "a run could not be started");
    return answer(failureFrames(ids, error));
  }
}
