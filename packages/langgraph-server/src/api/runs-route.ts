import {
  accountIdSchema,
  aiEventSchema,
  type Caller,
  dialectSchema,
  graphNameSchema,
  MESSAGE_ROLES,
  type Message,
  ThroughlineError,
  threadNameSchema,
} from "@throughline/ai-core";
import { z } from "zod";
import { runIdSchema } from "../ag-ui/run-agent-input.js";
import type { Arrival } from "../commands/arrivals.js";
import type { RunService } from "../drive/run-service.js";
import { requireAccepted } from "../drive/start-refusal.js";
import { bodyOf } from "../http/checked-request.js";
import { earlyEndError } from "../http/early-end.js";
import {
  openStream,
  type RouteContext,
  type RouteParts,
  requireAgent,
  type SignedIn,
} from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import { type Ending, subscribeOnStream } from "../http/subscribe-stream.js";
import { encodeSseFrame } from "../hub/sse-frame.js";
import type { ThreadHub } from "../hub/thread-hub.js";
import { threadAddress } from "../thread/thread-address.js";

const correlationSchema = z.string().regex(/^[\x21-\x7e]{1,128}$/, "must be 1–128 printable characters");

/** The service contract between backends: who pays, what to run, what it is called. */
export const runRequestSchema = z.object({
  accountId: accountIdSchema,
  runId: runIdSchema.describe("The caller's own name of the run: the same again attaches to the same run."),
  stateKey: threadNameSchema
    .optional()
    .describe("Names the thread to go on with; without it the run has one of its own."),
  graphName: graphNameSchema.default("chat"),
  model: z.string().min(1).max(128),
  messages: z.array(z.object({ role: z.enum(MESSAGE_ROLES), content: z.string() })).min(1),
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
});
type RunRequest = z.infer<typeof runRequestSchema>;

type RunsParts = RouteParts<{
  readonly runs: RunService;
  readonly hub: ThreadHub;
}>;

/** `POST /runs`: a run as AiEvents. Failures before it begins are HTTP statuses, later ones an `error` event. */
export function runsRoute(parts: RunsParts): ActionRoute {
  return {
    method: "POST",
    path: "/runs",
    action: "run",
    doc: {
      summary: "Start a run and stream it as AiEvents",
      description:
        "The contract between backends. `accountId` must be the caller's own unless the caller is a trusted service. Failures before the run begins are HTTP statuses, later ones an `error` event.",
      tag: "runs",
      body: runRequestSchema,
      answer: {
        status: 200,
        description: "`text_delta` any number of times, `usage_report`, then one `done` or `error`",
        events: aiEventSchema,
      },
      errors: ["not_found", "busy", "conflict", "interrupt_pending", "rate_limited", "upstream_unavailable"],
    },
    handle: async (c, who, arrival) => startRun(c, parts, who, await bodyOf(who, runRequestSchema), arrival),
  };
}

async function startRun(
  c: RouteContext,
  parts: RunsParts,
  who: SignedIn,
  request: RunRequest,
  arrival: Arrival,
): Promise<Response> {
  const { service, clock, usage } = parts;
  const caller = callerFor(who, request);
  const limits = parts.limitsOf(caller.billingAccountId);
  if (request.messages.length > limits.maxContentParts) {
    throw new ThroughlineError(
      "too_large",
      `messages: are more than ${limits.maxContentParts}, the most a request may have. Send fewer.`,
      { details: { field: "messages", limit: "maxContentParts", max: limits.maxContentParts } },
    );
  }
  const agent = await requireAgent(parts, request.graphName);
  const thread = threadAddress(
    caller,
    agent.graphName,
    threadNameSchema.parse(request.stateKey ?? request.runId),
  );
  c.header("x-request-id", request.requestId);
  c.header("x-trace-id", request.traceId);
  const watching = await usage.watch(caller.billingAccountId, limits);
  try {
    const outcome = await service.runs.start({
      thread,
      caller,
      ingressRequestId: request.requestId,
      traceparent: c.get("trace").traceparent,
      clientRunId: request.runId,
      arrival,
      input: { kind: "input", messages: messagesOf(request) },
      tools: [],
      context: [],
      model: request.model,
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
      lastWords,
    });
    return response;
  } catch (error) {
    watching.leave();
    throw error;
  }
}

/** The account is the caller's own, unless the caller is a service that was signed in as one. */
function callerFor(
  { caller, credentials }: SignedIn,
  { accountId, traceId, virtualKeyId }: RunRequest,
): Caller {
  if (accountId === caller.billingAccountId && virtualKeyId === undefined) return { ...caller, traceId };
  if (!credentials.isTrustedService) {
    throw new ThroughlineError(
      "forbidden",
      "accountId: runs of another account, or with another key, need a trusted service",
    );
  }
  return { billingAccountId: accountId, virtualKeyId: virtualKeyId ?? caller.virtualKeyId, traceId };
}

/** Ids follow from the run's, so that the same request again brings the same messages. */
function messagesOf({ runId, messages }: RunRequest): Message[] {
  return messages.map(({ role, content }, index) => ({ id: `${runId}/${index}`, role, content }));
}

function lastWords(ending: Ending): Buffer[] {
  if (ending.reason === "done") return [];
  const { code, message } = earlyEndError(ending.reason);
  return [
    encodeSseFrame({ event: "error", data: JSON.stringify({ type: "error", ok: false, code, message }) }),
  ];
}
