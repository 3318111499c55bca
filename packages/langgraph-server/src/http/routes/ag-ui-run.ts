import { type ErrorCode, type GraphDescriptor, newRunId, ThroughlineError } from "@throughline/ai-core";
import type { Action } from "../../accounts/actions.js";
import type { AuditFacts } from "../../accounts/audit-entry.js";
import type { AttachmentGate } from "../../attachments/input-attachments.js";
import { laneOf } from "../../runs/commands.js";
import type { RunService, StartRunRequest } from "../../runs/start-request.js";
import { type AcceptedStart, requireAccepted } from "../../runs/start-run.js";
import type { Arrival } from "../../runs/stop-runs.js";
import type { SubscribeFrom, ThreadStreams } from "../../streams/stream-types.js";
import type { RunInput } from "../../threads/run-spec.js";
import { callerIn, type ThreadAddress } from "../../threads/thread-address.js";
import { type App, type AuthorizedRequest, openStream, publicUrlOf, type RouteContext } from "../request.js";
import { threadFor } from "../request-scope.js";
import { cursorOf, followOf, subscribeOnStream } from "../stream-thread.js";
import { emptyRunFrames, failureFrames, finalAgUiFrames, type Poll, pollFrames } from "./ag-ui-frames.js";
import { contextOf, faceOf, runInputOf, toolsOf } from "./ag-ui-run-input.js";
import type { RunAgentInput } from "./ag-ui-schema.js";
import { stopFacts } from "./stop.js";

/** The parts of the service that AG-UI runs need. */
export type RunParts = App<{
  readonly runs: RunService;
  readonly hub: ThreadStreams;
  readonly attachments: Pick<AttachmentGate, "links">;
}>;

/** Error codes of the request itself, which are sent as an HTTP status before any stream. */
const AS_STATUS: ReadonlySet<ErrorCode> = new Set([
  "rate_limited",
  "store_unavailable",
  "forbidden",
  // A failed run would make clients drop the interrupt, which is still open.
  "answer_mismatch",
  "budget_exceeded",
  "model_not_allowed",
  "models_unavailable",
]);

/**
 * Starts a run and streams it. The request was accepted when this is called: any failure from now on, except a limit, a
 * store or model list that is unavailable, a missing permission, a model or a budget that forbids the run, and a response that does
 * not fit, is sent as a failed run, because stock clients see nothing else.
 */
export async function runAgent(
  c: RouteContext,
  parts: RunParts,
  who: AuthorizedRequest,
  agent: GraphDescriptor,
  input: RunAgentInput,
  arrival: Arrival,
): Promise<Response> {
  const { service, clock, usage } = parts;
  const { caller, credentials, limits } = who;
  const threadName = input.threadId ?? "";
  const ids = { threadName, runId: input.runId ?? newRunId(clock) };
  const cursor = cursorOf(c.req.raw.headers, input.lastSeenEventId);
  const form = faceOf(input, publicUrlOf(c, parts));
  const permit = await usage.watch(caller.billingAccountId, limits);

  function respond(frames: readonly Buffer[]): Response {
    const { stream, response } = openStream(c, parts, permit);
    stream.write(frames);
    stream.end();
    return response;
  }

  function fileUrlOf({ ref: thread }: ThreadAddress): Poll["fileUrl"] {
    const { fileBaseUrl: base } = form;
    return base === undefined ? undefined : (id) => service.attachments.links.linkTo(base, { thread, id });
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
    const { visibility } = input.forwardedProps?.throughline ?? {};
    const thread = threadFor(who, { graphName: agent.graphName, threadName, visibility });
    const lane = laneOf(agent, input.forwardedProps?.throughline ?? {});
    switch (lane.kind) {
      case "poll":
        return respond(
          pollFrames(await service.hub.read(thread, cursor), { ...ids, ...form, fileUrl: fileUrlOf(thread) }),
        );
      case "stop": {
        const stopped = await service.runs.stop(thread, lane.runId);
        who.audit(stopFacts(stopped, lane.runId));
        return respond(emptyRunFrames(ids, { stop: stopped.kind }));
      }
      case "run":
        return stream(thread, await start(thread, runInputOf(input), lane));
      case "ask_again":
        return stream(thread, await start(thread, { kind: "resume", answers: {} }, { strategy: "reject" }));
    }
  }

  async function start(
    thread: ThreadAddress,
    runInput: RunInput,
    { command, strategy }: Pick<StartRunRequest, "command" | "strategy">,
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
    if (who.action === "answer") who.audit(answerFacts(runInput));
    const request: StartRunRequest = {
      thread,
      caller: callerIn(caller, options.visibility),
      person: caller.subject,
      ingressRequestId: c.get("trace").requestId,
      traceparent: c.get("trace").traceparent,
      clientRunId: input.runId ?? undefined,
      arrival,
      input: runInput,
      tools: toolsOf(input),
      context: contextOf(input),
      command,
      model: options.model,
      remembersModel: true,
      config: options.config,
      profile: options.profile ?? "user",
      dialect: options.dialect,
      strategy,
    };
    const accepted = requireAccepted(await service.runs.start(request));
    who.audit({ target: { runId: accepted.run.runId } });
    return accepted;
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
    const opened = openStream(c, parts, permit);
    subscribeOnStream({
      hub: service.hub,
      clock,
      thread,
      options: { face: { kind: "ag-ui", ...form }, from, follow: false },
      stream: opened.stream,
      expiresAt: credentials.expiresAt,
      finalFrames: (end, hasFrames) => finalAgUiFrames(ids, end, hasFrames),
    });
    return opened.response;
  }

  try {
    return await begin();
  } catch (error) {
    // Nothing was started: the same request may be sent again, or by another person.
    if (error instanceof ThroughlineError && AS_STATUS.has(error.code)) {
      permit.leave();
      throw error;
    }
    if (!(error instanceof ThroughlineError))
      c.get("logger").error({ err: error }, "a run could not be started");
    who.audit({ error });
    return respond(failureFrames(ids, error));
  }
}

/** The action of a run request. Decided like the run itself: a response precedes everything but a command of ours. */
export function actionOf({ resume, forwardedProps }: RunAgentInput): Action {
  switch (forwardedProps?.throughline?.command?.name) {
    case "poll":
      return "read";
    case "stop":
      return "stop";
    case "ask_again":
      return "answer";
  }
  const isAnswer = (resume ?? []).length > 0 || forwardedProps?.command?.resume !== undefined;
  return isAnswer ? "answer" : "run";
}

function answerFacts(input: RunInput): AuditFacts {
  switch (input.kind) {
    case "resume":
      return { answer: input.answers, target: { interruptIds: Object.keys(input.answers) } };
    case "answer":
      return { answer: input.value };
    default:
      return {};
  }
}

/** Streams a thread's current state, then its events: to the end of the open run, or without end with `follow`. */
export async function connectAgent(
  c: RouteContext,
  parts: App<{ readonly hub: ThreadStreams }>,
  who: AuthorizedRequest,
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
  const permit = await parts.usage.watch(caller.billingAccountId, limits);
  const { stream, response } = openStream(c, parts, permit);
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
      face: { kind: "ag-ui", ...faceOf(input, publicUrlOf(c, parts)) },
      from: cursor === undefined ? { kind: "nothing" } : { kind: "cursor", cursor },
      follow,
    },
    stream,
    expiresAt: credentials.expiresAt,
    finalFrames: (end, hasFrames) => finalAgUiFrames(ids, end, hasFrames),
  });
  return response;
}
