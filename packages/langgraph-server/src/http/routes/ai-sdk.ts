import type { LogPosition } from "@throughline/ai-core";
import { encodeFrameCursor, uiMessages, WHOLE_ENTRY } from "@throughline/reading";
import { z } from "zod";
import type { Permit } from "../../accounts/limits.js";
import type { AttachmentGate } from "../../attachments/input-attachments.js";
import type { RunService } from "../../runs/start-request.js";
import { requireAccepted } from "../../runs/start-run.js";
import type { Arrival } from "../../runs/stop-runs.js";
import type { ThreadService } from "../../runs/thread-service.js";
import { encodeSseFrame } from "../../streams/frame-encoders.js";
import type { SubscribeFrom, ThreadStreams } from "../../streams/stream-types.js";
import type { RunInput } from "../../threads/run-spec.js";
import { callerIn, type ThreadAddress } from "../../threads/thread-address.js";
import {
  type App,
  type AuthenticatedRequest,
  type AuthorizedRequest,
  openStream,
  parseBody,
  parseQuery,
  publicUrlOf,
  type RouteContext,
  requireAgent,
} from "../request.js";
import { threadFor, threadOf, visibilityQuerySchema } from "../request-scope.js";
import type { Route } from "../route.js";
import { chatChunkSchema, chatMessagesSchema } from "../stream-schemas.js";
import {
  cursorOf,
  lastEventIdHeaders,
  type StreamEnd,
  streamEndError,
  subscribeOnStream,
} from "../stream-thread.js";
import { contextOf, refuseManyParts, runInputOf, toolsOf } from "./ag-ui-run-input.js";
import { type ChatRequest, chatRequestSchema, regeneratedInput, runAgentInputOf } from "./ai-sdk-input.js";
import { stoppedSchema, stopThread } from "./stop.js";

type ChatParts = App<{
  readonly runs: RunService;
  readonly hub: ThreadStreams;
  readonly threads: Pick<ThreadService, "state" | "checkpointBefore">;
  readonly attachments: Pick<AttachmentGate, "links">;
}>;

const BASE = "/api/ai-sdk/:agentId/chat";

const streamQuerySchema = visibilityQuerySchema.extend({
  since: z
    .string()
    .max(512)
    .optional()
    .describe(
      "The `cursor` of the messages that a page began with: if the answer ended since, it is told whole.",
    ),
});

function cursorAt(position: LogPosition | undefined): string | null {
  return position ? encodeFrameCursor({ ...position, n: WHOLE_ENTRY, face: "ui" }) : null;
}

/** Native routes for the AI SDK's `useChat`: a chat is a thread, and a response is a message. */
export function chatRoutes(parts: ChatParts): Route[] {
  const { service, usage } = parts;

  async function chat(
    c: RouteContext,
    authenticated: AuthenticatedRequest,
    arrival: Arrival,
  ): Promise<Response> {
    const request = await parseBody(authenticated, chatRequestSchema);
    const who = authenticated.authorize((request.resume ?? []).length > 0 ? "answer" : "run");
    const agent = await requireAgent(parts, c.req.param("agentId") ?? "");
    const { id: threadName, visibility } = request;
    const thread = threadFor(who, { graphName: agent.graphName, threadName, visibility });
    const again =
      request.trigger === "regenerate-message" ? await regeneratedInput(service, thread, request) : undefined;
    const permit = await usage.watch(who.caller.billingAccountId, who.limits);
    try {
      const { kind, run } = await start(c, who, thread, request, arrival, again);
      const isNew = kind === "started" || kind === "queued";
      // An attached run continues a message that the client may have, or have lost.
      const knowsNothing = (request.resume ?? []).length > 0 && request.messages.at(-1)?.role !== "assistant";
      const from = { kind: "run", runId: run.runId, isNew, knowsNothing } as const;
      return streamChat(c, parts, who, { thread, from, permit });
    } catch (error) {
      permit.leave();
      throw error;
    }
  }

  async function start(
    c: RouteContext,
    who: AuthorizedRequest,
    thread: ThreadAddress,
    request: ChatRequest,
    arrival: Arrival,
    again: RunInput | undefined,
  ) {
    const input = runAgentInputOf(request);
    refuseManyParts(input.messages ?? [], who.limits.maxContentParts);
    const runInput = again ?? runInputOf(input);
    if (runInput.kind === "resume")
      who.audit({ answer: runInput.answers, target: { interruptIds: Object.keys(runInput.answers) } });
    const outcome = await service.runs.start({
      thread,
      caller: callerIn(who.caller, request.visibility),
      person: who.caller.subject,
      ingressRequestId: c.get("trace").requestId,
      traceparent: c.get("trace").traceparent,
      clientRunId: request.runId,
      arrival,
      input: runInput,
      tools: toolsOf(input),
      context: contextOf(input),
      model: request.model,
      profile: "user",
      strategy: request.strategy,
    });
    const accepted = requireAccepted(outcome);
    who.audit({ target: { runId: accepted.run.runId } });
    return accepted;
  }

  /** Whether a response is streaming, or has completed since a client listed the messages. */
  async function hasNews(thread: ThreadAddress, since: string | undefined): Promise<boolean> {
    if (await service.runs.active(thread)) return true;
    if (since === undefined) return false;
    const { fold, position } = await service.hub.read(thread, undefined);
    return since !== cursorAt(position) && uiMessages(fold).at(-1)?.role === "assistant";
  }

  return [
    {
      method: "POST",
      path: BASE,
      action: "by_request",
      doc: {
        summary: "Send a chat's message and stream the answer, for the AI SDK",
        description:
          "The `api` of `useChat`'s `DefaultChatTransport`. Refusals are HTTP statuses, later failures an `error` chunk. Closing the stream does not stop the run: stop it by its route, or resume it.",
        tag: "runs",
        body: chatRequestSchema,
        response: {
          status: 200,
          description: "A UI message stream, version 1, ended by `[DONE]`",
          events: chatChunkSchema,
          lastData: STREAM_END,
        },
        errors: [
          "busy",
          "conflict",
          "interrupt_pending",
          "answer_mismatch",
          "rate_limited",
          "model_not_allowed",
          "budget_exceeded",
          "models_unavailable",
        ],
      },
      handle: chat,
    },
    {
      method: "GET",
      path: `${BASE}/:threadName`,
      action: "read",
      doc: {
        summary: "List a chat's messages, for the AI SDK",
        description: "What `useChat` begins with. An unknown chat has none.",
        tag: "threads",
        query: visibilityQuerySchema,
        response: { status: 200, description: "The chat as it stands", schema: chatMessagesSchema },
        errors: ["store_unavailable"],
      },
      async handle(c, who) {
        const thread = await threadOf(c, parts, who);
        const { fold, position } = await service.hub.read(thread, undefined);
        const base = publicUrlOf(c, parts);
        const fileUrl = (id: string) => service.attachments.links.linkTo(base, { thread: thread.ref, id });
        const messages = uiMessages(fold, fileUrl).map(({ id, role, parts: content }) => ({
          id,
          role,
          parts: [...content],
        }));
        const body: z.output<typeof chatMessagesSchema> = {
          messages,
          isRunning: fold.run?.open ?? false,
          cursor: cursorAt(position),
        };
        return c.json(body);
      },
    },
    {
      method: "GET",
      path: `${BASE}/:threadName/stream`,
      action: "read",
      isStream: true,
      doc: {
        summary: "Resume the answer that is being given, for the AI SDK",
        description:
          "Where `useChat` with `resume` reconnects: the whole answer so far and the rest of it. Holding a cursor, only what came after it, also when the run has ended since.",
        tag: "runs",
        query: streamQuerySchema,
        headers: lastEventIdHeaders,
        response: {
          status: 200,
          description: "A UI message stream, version 1, ended by `[DONE]`",
          events: chatChunkSchema,
          lastData: STREAM_END,
        },
        alternatives: [{ status: 204, description: "Nothing runs" }],
        errors: ["rate_limited"],
      },
      async handle(c, who) {
        const thread = await threadOf(c, parts, who);
        const cursor = cursorOf(c.req.raw.headers);
        const { since } = parseQuery(c, streamQuerySchema);
        if (cursor === undefined && !(await hasNews(thread, since))) return c.body(null, 204);
        const permit = await usage.watch(who.caller.billingAccountId, who.limits);
        const from =
          cursor === undefined ? ({ kind: "nothing" } as const) : ({ kind: "cursor", cursor } as const);
        return streamChat(c, parts, who, { thread, from, permit });
      },
    },
    {
      method: "POST",
      path: `${BASE}/:threadName/stop`,
      action: "stop",
      doc: {
        summary: "Stop a chat's run, for the AI SDK",
        description:
          "Everything that was asked of the thread. `useChat`'s own `stop` only closes its stream.",
        tag: "runs",
        query: visibilityQuerySchema,
        response: { status: 200, description: "What became of it", schema: stoppedSchema },
        errors: [],
      },
      async handle(c, who) {
        return stopThread(c, parts, who, await threadOf(c, parts, who));
      },
    },
  ];
}

/** The header by which the AI SDK knows the version of its protocol. */
const STREAM_HEADER = { name: "x-vercel-ai-ui-message-stream", value: "v1" } as const;

/** The data of a stream's last event, by which the AI SDK knows that it is complete. */
const STREAM_END = "[DONE]";

/** Streams a response to its run's end. */
function streamChat(
  c: RouteContext,
  parts: App<{ readonly hub: ThreadStreams }>,
  who: AuthorizedRequest,
  {
    thread,
    from,
    permit,
  }: { readonly thread: ThreadAddress; readonly from: SubscribeFrom; readonly permit: Permit },
): Response {
  c.header(STREAM_HEADER.name, STREAM_HEADER.value);
  const { stream, response } = openStream(c, parts, permit);
  subscribeOnStream({
    hub: parts.service.hub,
    clock: parts.clock,
    thread,
    options: { face: { kind: "ui-messages", fileBaseUrl: publicUrlOf(c, parts) }, from, follow: false },
    stream,
    expiresAt: who.credentials.expiresAt,
    finalFrames,
  });
  return response;
}

/** The final frames of a chat. A client treats a stream without an error as complete, so an early end sends one. */
function finalFrames({ reason }: StreamEnd): Buffer[] {
  const done = encodeSseFrame({ data: STREAM_END });
  if (reason === "done") return [done];
  const { message } = streamEndError(reason);
  return [encodeSseFrame({ data: JSON.stringify({ type: "error", errorText: message }) }), done];
}
