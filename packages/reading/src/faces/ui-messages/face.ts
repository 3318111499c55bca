import type { Envelope, EnvelopeOf, Json, JsonObject, LogEntry, PayloadOf } from "@throughline/ai-core";
import { applyEnvelope, continuedMessage } from "../../fold/fold.js";
import { toolResultPosition } from "../../fold/message-list.js";
import {
  idleStatus,
  type OpenMessage,
  type ProjectedMessage,
  type ThreadProjection,
} from "../../fold/thread-fold.js";
import type { FileUrl } from "../media-words.js";
import {
  endMessages,
  endsWithFile,
  inputStart,
  interruptChunk,
  isStreamed,
  isTextOpen,
  lastUserMessageId,
  messageChunks,
  partChunks,
  replyId,
  replyMessages,
  resultChunks,
  tag,
} from "./answer.js";
import type { UiMessageChunk } from "./chunk.js";

export interface UiMessageEncoderOptions {
  /** Maps attachments to URLs that clients can fetch; else parts have their internal URLs, which only our own clients know. */
  readonly fileUrl?: FileUrl | undefined;
}

/** R4: encodes log entries as the AI SDK's UI message stream. Stateless: the projection is all it knows of the past. */
export interface UiMessageEncoder {
  /** The chunks of one entry, given the projection before it. */
  chunks(before: ThreadProjection, entry: LogEntry): UiMessageChunk[];
  /** The reply so far, for a client that has nothing of it. Ends the stream if no run is open. */
  prelude(projection: ThreadProjection): UiMessageChunk[];
}

export function createUiMessageEncoder({ fileUrl }: UiMessageEncoderOptions = {}): UiMessageEncoder {
  function read(before: ThreadProjection, envelope: Envelope): UiMessageChunk[] {
    switch (envelope.type) {
      case "run_start":
        return startRun(before, envelope);
      case "run_end":
        return [...endMessages(before), ending(before, envelope.payload)];
      case "llm_token":
        return token(before, envelope);
      case "llm_end":
        return endMessages(before, ({ message_id }) => message_id === envelope.payload.message_id);
      case "tool_end": {
        const result = toolResultPosition(before, envelope.call_id, envelope.payload)?.message;
        return result && result.subagent_id === undefined
          ? resultChunks(result, replyMessages(before), fileUrl)
          : [];
      }
      case "state_snapshot":
        return snapshot(before, envelope);
      case "state_delta":
        return [
          { type: "data-state-delta", data: envelope.payload.ops.map((op) => ({ ...op })), transient: true },
        ];
      case "interrupt":
        return [interruptChunk(envelope.payload, "open")];
      case "retract":
        return retract(before, envelope);
      case "usage":
        return [{ type: "message-metadata", messageMetadata: usageOf(applyEnvelope(before, envelope)) }];
      case "custom":
        return [custom(envelope.payload.name, envelope.payload.value)];
      case "tool_update": {
        const { tool_name: toolName, data } = envelope.payload;
        return [custom("throughline.tool_update", { toolCallId: envelope.call_id, toolName, data })];
      }
      case "warning":
        return [custom("throughline.warning", { ...envelope.payload })];
      case "error":
      case "llm_start":
      case "step_start":
      case "step_end":
      case "tool_start":
      case "subgraph_checkpoint":
      case "subgraph_resume":
        return [];
    }
  }

  function startRun(before: ThreadProjection, envelope: EnvelopeOf<"run_start">): UiMessageChunk[] {
    const { run } = before;
    const closing = run?.open ? endMessages(before) : [];
    // R27: recovered after a crash, it is the same run to its subscribers.
    if (run?.open && run.run_id === envelope.run_id) return closing;
    const lost: UiMessageChunk[] = run?.open
      ? [...closing, { type: "error", errorText: "The run was lost and could not be taken up again." }]
      : [];
    const after = applyEnvelope(before, envelope);
    const resolved =
      lastUserMessageId(before) === lastUserMessageId(after)
        ? before.interrupts.filter((interrupt) => !after.interrupts.includes(interrupt))
        : [];
    return [
      ...lost,
      start(withoutRewound(after, envelope)),
      ...resolved.map((interrupt) => interruptChunk(interrupt, "answered")),
    ];
  }

  function token(before: ThreadProjection, envelope: EnvelopeOf<"llm_token">): UiMessageChunk[] {
    const open = continuedMessage(before, envelope);
    if (!open || open.subagent_id !== null) return [];
    const id = open.message_id;
    const { reasoning } = envelope.payload;
    const isThought = reasoning !== undefined;
    const thought: UiMessageChunk[] =
      open.reasoning_open && !isThought ? [{ type: "reasoning-end", id }] : [];
    const added = isThought ? reasoningChunks(open, reasoning) : contentChunks(open, envelope.payload);
    if (added.length === 0) return thought;
    const isFirst = !before.openMessages.some(isStreamed);
    return [...(isFirst ? [{ type: "start-step" as const }] : []), ...thought, ...added];
  }

  function reasoningChunks({ message_id: id, reasoning_open }: OpenMessage, delta: string): UiMessageChunk[] {
    const content: UiMessageChunk = { type: "reasoning-delta", id, delta };
    return reasoning_open ? [content] : [{ type: "reasoning-start", id, ...tag(id) }, content];
  }

  function contentChunks(
    open: OpenMessage,
    { text, part, tool_call: call }: PayloadOf<"llm_token">,
  ): UiMessageChunk[] {
    const id = open.message_id;
    if (part !== undefined)
      return [
        ...(isTextOpen(open) ? [{ type: "text-end" as const, id }] : []),
        ...partChunks(id, part, fileUrl),
      ];
    if (text === undefined) return call ? callArguments(open, call) : [];
    const content: UiMessageChunk = { type: "text-delta", id, delta: text };
    if (isTextOpen(open)) return [content];
    return text === "" && endsWithFile(open) ? [] : [{ type: "text-start", id, ...tag(id) }, content];
  }

  function callArguments(
    open: OpenMessage,
    part: NonNullable<PayloadOf<"llm_token">["tool_call"]>,
  ): UiMessageChunk[] {
    const known = open.tool_calls.find((call) =>
      part.id === undefined ? call.index === part.index : call.id === part.id,
    );
    const toolCallId = known?.id ?? part.id;
    if (toolCallId === undefined || (known && part.id !== undefined)) return [];
    const begun = known ? [] : [inputStart({ id: toolCallId, name: part.name ?? "tool" }, open.message_id)];
    const delta = part.args ?? "";
    return delta === "" ? begun : [...begun, { type: "tool-input-delta", toolCallId, inputTextDelta: delta }];
  }

  function snapshot(before: ThreadProjection, envelope: EnvelopeOf<"state_snapshot">): UiMessageChunk[] {
    const { state, messages, changed_messages } = envelope.payload;
    const stateChunks: UiMessageChunk[] = state ? [{ type: "data-state", data: state, transient: true }] : [];
    return messages || changed_messages
      ? [...stateChunks, ...difference(before, applyEnvelope(before, envelope))]
      : stateChunks;
  }

  /** Retracts messages that are gone, and emits new ones. The order of earlier parts stays: a stream can't change it. */
  function difference(before: ThreadProjection, after: ThreadProjection): UiMessageChunk[] {
    const had = replyMessages(before);
    const has = replyMessages(after, lastUserMessageId(before));
    const held = new Set(had.map(content));
    const current = new Set(has.map(content));
    const results = new Set(has.map(({ tool_call_id }) => tool_call_id));
    // A result is retracted with the message of its call.
    const lost = new Set(had.flatMap(({ tool_call_id: id }) => (id && !results.has(id) ? [id] : [])));
    const gone = had.filter(
      (message) => message.role === "assistant" && (!current.has(content(message)) || calls(message, lost)),
    );
    const isGone = (messageId: string) => gone.some(({ id }) => id === messageId);
    const news = new Set(has.filter((message) => !held.has(content(message)) || isGone(message.id)));
    // A call that is emitted again has no result in the client, so its result follows.
    const reemitted = new Set(
      [...gone, ...news].flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)),
    );
    const more = has.filter((message) => news.has(message) || reemitted.has(message.tool_call_id ?? ""));
    return [
      ...endMessages(before, ({ message_id }) => isGone(message_id)),
      ...retracted(gone),
      ...messageChunks(resultsAfterCalls(more), has, {
        fileUrl,
        open: after.openMessages,
        isStepOpen: before.openMessages.some((open) => isStreamed(open) && !isGone(open.message_id)),
      }),
    ];
  }

  function retract(before: ThreadProjection, envelope: EnvelopeOf<"retract">): UiMessageChunk[] {
    const after = applyEnvelope(before, envelope);
    const gone = new Set(envelope.payload.message_ids);
    return [
      ...endMessages(before, (open) => !after.openMessages.includes(open)),
      ...retracted(replyMessages(before).filter(({ id }) => gone.has(id))),
    ];
  }

  return {
    // R16 wraps events outside of runs; a stream of one reply ends with its run, so here such entries have no chunks.
    chunks: (before, { envelope }) =>
      before.run?.open || envelope.type === "run_start" ? read(before, envelope) : [],
    prelude(projection) {
      const reply = replyMessages(projection);
      return [
        start(projection),
        { type: "data-state", data: projection.state, transient: true },
        ...messageChunks(resultsAfterCalls(reply), reply, { fileUrl, open: projection.openMessages }),
        ...projection.interrupts.map((interrupt) => interruptChunk(interrupt, "open")),
        ...(projection.run?.open ? [] : [ending(projection, { status: idleStatus(projection) })]),
      ];
    },
  };
}

function content({ id, content: body, reasoning, tool_calls, status }: ProjectedMessage): string {
  return JSON.stringify([id, body, reasoning ?? "", tool_calls ?? [], status === "error"]);
}

/** Moves results that are before their calls to the end: a result emitted before its call would be undone by it. */
function resultsAfterCalls(messages: readonly ProjectedMessage[]): readonly ProjectedMessage[] {
  const called = new Set(messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
  const seen = new Set<string>();
  const early = new Set<ProjectedMessage>();
  for (const message of messages) {
    const { tool_call_id: id, tool_calls = [] } = message;
    if (id !== undefined && called.has(id) && !seen.has(id)) early.add(message);
    for (const call of tool_calls) seen.add(call.id);
  }
  if (early.size === 0) return messages;
  return [...messages.filter((message) => !early.has(message)), ...early];
}

function calls({ tool_calls = [] }: ProjectedMessage, ids: ReadonlySet<string>): boolean {
  return tool_calls.some(({ id }) => ids.has(id));
}

function retracted(messages: readonly ProjectedMessage[]): UiMessageChunk[] {
  const messageIds = messages.map(({ id }) => id);
  return messageIds.length > 0 ? [{ type: "data-retracted", data: { messageIds } }] : [];
}

/** Drops the messages that the run will retract: its reply is to the last message that stays, and its id can't be changed later. */
function withoutRewound(
  projection: ThreadProjection,
  { payload }: EnvelopeOf<"run_start">,
): ThreadProjection {
  const rewound = payload.went_back;
  return rewound
    ? { ...projection, messages: projection.messages.filter(({ id }) => !rewound.includes(id)) }
    : projection;
}

function start(projection: ThreadProjection): UiMessageChunk {
  const { run } = projection;
  const messageMetadata = run ? { runId: run.client_run_id ?? run.run_id } : {};
  return { type: "start", messageId: replyId(lastUserMessageId(projection)), messageMetadata };
}

function usageOf({ usage }: ThreadProjection): JsonObject {
  return { usage: { ...usage } };
}

function ending(projection: ThreadProjection, { status, error }: PayloadOf<"run_end">): UiMessageChunk {
  if (status === "error") return { type: "error", errorText: error?.message ?? "The run failed." };
  if (status === "cancelled") return { type: "abort", reason: "The run was stopped." };
  const finishReason = status === "success" ? "stop" : "other";
  return { type: "finish", finishReason, messageMetadata: usageOf(projection) };
}

function custom(name: string, value: Json): UiMessageChunk {
  return { type: "data-custom", data: { name, value }, transient: true };
}
