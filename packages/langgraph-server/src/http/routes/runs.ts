import {
  accountIdSchema,
  aiEventSchema,
  type Caller,
  dialectSchema,
  envelopeSchema,
  graphNameSchema,
  type Json,
  MESSAGE_ROLES,
  type Message,
  runConfigSchema,
  ThroughlineError,
  threadNameSchema,
} from "@throughline/ai-core";
import { z } from "zod";
import { TRUSTED_SERVICE_ACTIONS } from "../../accounts/actions.js";
import type { RunService } from "../../runs/start-request.js";
import { requireAccepted } from "../../runs/start-run.js";
import type { Arrival } from "../../runs/stop-runs.js";
import { encodeSseFrame } from "../../streams/frame-encoders.js";
import type { ThreadStreams } from "../../streams/stream-types.js";
import type { RunInput } from "../../threads/run-spec.js";
import { callerIn, threadVisibilitySchema } from "../../threads/thread-address.js";
import { parsedObject } from "../bodies.js";
import {
  type App,
  type AuthorizedRequest,
  openStream,
  parseInput,
  type RouteContext,
  requireAgentOrDefault,
} from "../request.js";
import { threadFor, threadOf } from "../request-scope.js";
import type { ActionRoute, ManyActionsRoute } from "../route.js";
import {
  cursorOf,
  followOf,
  followQuerySchema,
  lastEventIdHeaders,
  type StreamEnd,
  streamEndError,
  subscribeOnStream,
} from "../stream-thread.js";
import { runIdSchema } from "./ag-ui-schema.js";

const correlationSchema = z.string().regex(/^[\x21-\x7e]{1,128}$/, "must be 1–128 printable characters");

const runFields = {
  accountId: accountIdSchema,
  runId: runIdSchema.describe("The caller's own name of the run: the same again attaches to the same run."),
  stateKey: threadNameSchema
    .optional()
    .describe("Names the thread to go on with; without it the run has one of its own."),
  visibility: threadVisibilitySchema,
  graphName: graphNameSchema
    .optional()
    .describe("Default: the graph that the service is configured with, else its first."),
  model: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe("Of `GET /models`, for graphs that accept one. Default: selected by the service."),
  config: runConfigSchema
    .optional()
    .describe("Recursion limit, tags, metadata and the graph's configuration."),
};
const requesterFields = {
  requestId: correlationSchema,
  traceId: correlationSchema,
  dialect: dialectSchema
    .optional()
    .describe("How the graph's stream is read: its stream modes, or its events. Default: `modes`."),
  virtualKeyId: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("Whose key pays, where a trusted service asks for another account."),
};

/** The service contract between backends: payer, input, and ids. */
export const runRequestSchema = z.object({
  ...runFields,
  messages: z.array(z.object({ role: z.enum(MESSAGE_ROLES), content: z.string() })).min(1),
  ...requesterFields,
});
/** The same contract with interrupt responses, by interrupt id. */
const answerSchema = z.object({
  ...runFields,
  answers: parsedObject.refine((answers) => Object.keys(answers).length > 0, "must answer something"),
  ...requesterFields,
});
type RunRequest = z.infer<typeof runRequestSchema> | z.infer<typeof answerSchema>;

/** Parses one of the two forms. The form decides which action is authorized, so a request that mixes both is refused. */
function readRequest(body: Json, isAnswer: boolean): RunRequest {
  if (!isAnswer) return parseInput(runRequestSchema, body, "body");
  if (typeof body === "object" && body !== null && "messages" in body) {
    throw new ThroughlineError("invalid_input", "messages: give either messages or answers", {
      details: { field: "messages" },
    });
  }
  return parseInput(answerSchema, body, "body");
}

function inputOf(request: RunRequest): RunInput {
  return "answers" in request
    ? { kind: "resume", answers: request.answers }
    : { kind: "input", messages: messagesOf(request.runId, request.messages) };
}

type RunsParts = App<{
  readonly runs: RunService;
  readonly hub: ThreadStreams;
}>;

/** `POST /runs`: a run as AiEvents. Failures before it begins are HTTP statuses, later ones an `error` event. */
export function runsRoute(parts: RunsParts): ManyActionsRoute {
  return {
    method: "POST",
    path: "/runs",
    action: "by_request",
    doc: {
      summary: "Start a run and stream it as AiEvents",
      description:
        "The contract between backends. `accountId` must be the caller's own unless the caller is a trusted service. Failures before the run begins are HTTP statuses, later ones an `error` event. With `answers` (an object by interrupt id) in place of `messages` it answers open questions of the caller's own account.",
      tag: "runs",
      body: runRequestSchema,
      response: {
        status: 200,
        description: "`text_delta` any number of times, `usage_report`, then one `done` or `error`",
        events: aiEventSchema,
      },
      errors: [
        "not_found",
        "busy",
        "conflict",
        "interrupt_pending",
        "answer_mismatch",
        "rate_limited",
        "model_not_allowed",
        "budget_exceeded",
        "models_unavailable",
        "upstream_unavailable",
      ],
    },
    async handle(c, authenticated, arrival) {
      const body = (await authenticated.readBody()) ?? {};
      const isAnswer = typeof body === "object" && body !== null && "answers" in body;
      // Authorized before validation: a caller without permission learns nothing about the request.
      const who = authenticated.authorize(isAnswer ? "answer" : "run");
      return startRun(c, parts, who, readRequest(body, isAnswer), arrival);
    },
  };
}

async function startRun(
  c: RouteContext,
  parts: RunsParts,
  who: AuthorizedRequest,
  request: RunRequest,
  arrival: Arrival,
): Promise<Response> {
  const { service, clock, usage } = parts;
  const { visibility } = request;
  const named = callerFor(who, request);
  const caller = callerIn(named, visibility);
  const limits = parts.limitsOf(caller.billingAccountId);
  const input = inputOf(request);
  if (input.kind === "resume")
    who.audit({ answer: input.answers, target: { interruptIds: Object.keys(input.answers) } });
  if (input.kind === "input" && input.messages.length > limits.maxContentParts) {
    throw new ThroughlineError(
      "too_large",
      `messages: are more than ${limits.maxContentParts}, the most a request may have. Send fewer.`,
      { details: { field: "messages", limit: "maxContentParts", max: limits.maxContentParts } },
    );
  }
  const agent = await requireAgentOrDefault(parts, request.graphName);
  const threadName = threadNameSchema.parse(request.stateKey ?? request.runId);
  const thread = threadFor(who, { graphName: agent.graphName, threadName, visibility }, named);
  c.header("x-request-id", request.requestId);
  c.header("x-trace-id", request.traceId);
  const watching = await usage.watch(caller.billingAccountId, limits);
  try {
    const outcome = await service.runs.start({
      thread,
      caller,
      person: named.subject,
      ingressRequestId: request.requestId,
      traceparent: c.get("trace").traceparent,
      clientRunId: request.runId,
      arrival,
      input,
      tools: [],
      context: [],
      model: request.model,
      config: request.config,
      profile: "user",
      dialect: request.dialect,
      strategy: "reject",
    });
    const { kind, run } = requireAccepted(outcome);
    const isNew = kind === "started" || kind === "queued";
    const { stream, response } = openStream(c, parts, watching);
    subscribeOnStream({
      hub: service.hub,
      clock,
      thread,
      options: { face: { kind: "ai-events" }, from: { kind: "run", runId: run.runId, isNew }, follow: false },
      stream,
      expiresAt: who.credentials.expiresAt,
      finalFrames: finalAiEvents,
    });
    return response;
  } catch (error) {
    watching.leave();
    throw error;
  }
}

/** Resolves the paying caller: the account is the caller's own, unless the caller is authenticated as a trusted service. */
function callerFor(
  { caller, credentials, action }: AuthorizedRequest,
  { accountId, traceId, virtualKeyId }: RunRequest,
): Caller {
  if (accountId === caller.billingAccountId && virtualKeyId === undefined) return { ...caller, traceId };
  // The action decides what a trusted service may do in another account: it may not respond to interrupts for its people.
  if (!credentials.isTrustedService || !TRUSTED_SERVICE_ACTIONS.has(action)) {
    throw new ThroughlineError(
      "forbidden",
      "accountId: runs of another account, or with another key, need a trusted service",
    );
  }
  return { billingAccountId: accountId, virtualKeyId: virtualKeyId ?? caller.virtualKeyId, traceId };
}

/** Converts messages. Their ids are derived from the run's id, so that a repeated request creates the same messages. */
function messagesOf(runId: string, messages: z.infer<typeof runRequestSchema>["messages"]): Message[] {
  return messages.map(({ role, content }, index) => ({ id: `${runId}/${index}`, role, content }));
}

function finalAiEvents(end: StreamEnd): Buffer[] {
  if (end.reason === "done") return [];
  const { code, message } = streamEndError(end.reason);
  return [
    encodeSseFrame({ event: "error", data: JSON.stringify({ type: "error", ok: false, code, message }) }),
  ];
}

/** A thread's log as envelopes: all that is retained, or what follows a cursor, then live entries unless `follow=false`. */
export function eventsRoute(parts: App<{ readonly hub: ThreadStreams }>): ActionRoute {
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
      response: { status: 200, description: "One envelope an event", events: envelopeSchema },
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
        finalFrames: finalEnvelopes,
      });
      return response;
    },
  };
}

/** The final frames of an envelope stream. Readers reconnect after any other end; on a deleted thread they would do so for ever. */
function finalEnvelopes({ reason }: StreamEnd): readonly Buffer[] {
  if (reason !== "deleted") return [];
  const { code, message } = streamEndError(reason);
  return [encodeSseFrame({ event: "error", data: JSON.stringify({ code, message }) })];
}
