import type { Envelope, EnvelopeOf, Json, JsonObject, LogEntry, PayloadOf } from "@throughline/ai-core";
import { applyEnvelope, continuedMessage } from "../../fold/fold.js";
import { placeOfResult } from "../../fold/message-list.js";
import {
  type FoldMessage,
  type OpenMessage,
  standingStatus,
  type ThreadFold,
} from "../../fold/thread-fold.js";
import type { FileUrl } from "../media-words.js";
import {
  answerId,
  answerOf,
  askedLast,
  endMessages,
  endsWithFile,
  inputStart,
  isTextOpen,
  isTold,
  tag,
  tellMessages,
  tellPart,
  tellQuestion,
  tellResult,
} from "./answer.js";
import type { UiMessageChunk } from "./chunk.js";

export interface UiMessageFaceOptions {
  /** Where clients fetch attachments; else parts name them by their own address, which only our own clients know. */
  readonly fileUrl?: FileUrl | undefined;
}

/** R4: the thread as the AI SDK's UI message stream. A pure reading, as the AG-UI face: the fold is all it knows of the past. */
export interface UiMessageFace {
  /** What one entry adds, given the fold before it. */
  chunks(before: ThreadFold, entry: LogEntry): UiMessageChunk[];
  /** The answer so far, for a client that holds nothing of it. Ends the stream if no run is open. */
  prelude(fold: ThreadFold): UiMessageChunk[];
}

export function createUiMessageFace({ fileUrl }: UiMessageFaceOptions = {}): UiMessageFace {
  function read(before: ThreadFold, envelope: Envelope): UiMessageChunk[] {
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
        const result = placeOfResult(before, envelope.call_id, envelope.payload)?.message;
        return result && result.subagent_id === undefined
          ? tellResult(result, answerOf(before), fileUrl)
          : [];
      }
      case "state_snapshot":
        return snapshot(before, envelope);
      case "state_delta":
        return [
          { type: "data-state-delta", data: envelope.payload.ops.map((op) => ({ ...op })), transient: true },
        ];
      case "interrupt":
        return [tellQuestion(envelope.payload, "open")];
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

  function startRun(before: ThreadFold, envelope: EnvelopeOf<"run_start">): UiMessageChunk[] {
    const { run } = before;
    const closing = run?.open ? endMessages(before) : [];
    // R27: recovered after a crash, it is the same run to its subscribers.
    if (run?.open && run.run_id === envelope.run_id) return closing;
    const lost: UiMessageChunk[] = run?.open
      ? [...closing, { type: "error", errorText: "The run was lost and could not be taken up again." }]
      : [];
    const after = applyEnvelope(before, envelope);
    const answered =
      askedLast(before) === askedLast(after)
        ? before.interrupts.filter((asked) => !after.interrupts.includes(asked))
        : [];
    return [
      ...lost,
      start(goneBack(after, envelope)),
      ...answered.map((asked) => tellQuestion(asked, "answered")),
    ];
  }

  function token(before: ThreadFold, envelope: EnvelopeOf<"llm_token">): UiMessageChunk[] {
    const open = continuedMessage(before, envelope);
    if (!open || open.subagent_id !== null) return [];
    const id = open.message_id;
    const { reasoning } = envelope.payload;
    const isThought = reasoning !== undefined;
    const thought: UiMessageChunk[] =
      open.reasoning_open && !isThought ? [{ type: "reasoning-end", id }] : [];
    const said = isThought ? think(open, reasoning) : say(open, envelope.payload);
    if (said.length === 0) return thought;
    const isFirst = !before.openMessages.some(isTold);
    return [...(isFirst ? [{ type: "start-step" as const }] : []), ...thought, ...said];
  }

  function think({ message_id: id, reasoning_open }: OpenMessage, delta: string): UiMessageChunk[] {
    const content: UiMessageChunk = { type: "reasoning-delta", id, delta };
    return reasoning_open ? [content] : [{ type: "reasoning-start", id, ...tag(id) }, content];
  }

  function say(open: OpenMessage, { text, part, tool_call: call }: PayloadOf<"llm_token">): UiMessageChunk[] {
    const id = open.message_id;
    if (part !== undefined)
      return [
        ...(isTextOpen(open) ? [{ type: "text-end" as const, id }] : []),
        ...tellPart(id, part, fileUrl),
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

  function snapshot(before: ThreadFold, envelope: EnvelopeOf<"state_snapshot">): UiMessageChunk[] {
    const { state, messages, changed_messages } = envelope.payload;
    const told: UiMessageChunk[] = state ? [{ type: "data-state", data: state, transient: true }] : [];
    return messages || changed_messages
      ? [...told, ...difference(before, applyEnvelope(before, envelope))]
      : told;
  }

  /** Takes back what no longer stands, and says what is new. The order of what was said stays: a stream can't change it. */
  function difference(before: ThreadFold, after: ThreadFold): UiMessageChunk[] {
    const had = answerOf(before);
    const has = answerOf(after, askedLast(before));
    const held = new Set(had.map(content));
    const stands = new Set(has.map(content));
    const results = new Set(has.map(({ tool_call_id }) => tool_call_id));
    // A result goes with the message that asked for it.
    const lost = new Set(had.flatMap(({ tool_call_id: id }) => (id && !results.has(id) ? [id] : [])));
    const gone = had.filter(
      (message) => message.role === "assistant" && (!stands.has(content(message)) || calls(message, lost)),
    );
    const isGone = (messageId: string) => gone.some(({ id }) => id === messageId);
    const news = new Set(has.filter((message) => !held.has(content(message)) || isGone(message.id)));
    // A call that is written again has no result yet in the reader's eyes, so its result follows.
    const again = new Set(
      [...gone, ...news].flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)),
    );
    const more = has.filter((message) => news.has(message) || again.has(message.tool_call_id ?? ""));
    return [
      ...endMessages(before, ({ message_id }) => isGone(message_id)),
      ...retracted(gone),
      ...tellMessages(resultsAfterCalls(more), has, {
        fileUrl,
        open: after.openMessages,
        isStepOpen: before.openMessages.some((open) => isTold(open) && !isGone(open.message_id)),
      }),
    ];
  }

  function retract(before: ThreadFold, envelope: EnvelopeOf<"retract">): UiMessageChunk[] {
    const after = applyEnvelope(before, envelope);
    const gone = new Set(envelope.payload.message_ids);
    return [
      ...endMessages(before, (open) => !after.openMessages.includes(open)),
      ...retracted(answerOf(before).filter(({ id }) => gone.has(id))),
    ];
  }

  return {
    // R16 wraps what happens outside of runs; a stream of one answer ends with its run, so nothing is said of it here.
    chunks: (before, { envelope }) =>
      before.run?.open || envelope.type === "run_start" ? read(before, envelope) : [],
    prelude(fold) {
      const answer = answerOf(fold);
      return [
        start(fold),
        { type: "data-state", data: fold.state, transient: true },
        ...tellMessages(resultsAfterCalls(answer), answer, { fileUrl, open: fold.openMessages }),
        ...fold.interrupts.map((asked) => tellQuestion(asked, "open")),
        ...(fold.run?.open ? [] : [ending(fold, { status: standingStatus(fold) })]),
      ];
    },
  };
}

function content({ id, content: said, reasoning, tool_calls, status }: FoldMessage): string {
  return JSON.stringify([id, said, reasoning ?? "", tool_calls ?? [], status === "error"]);
}

/** A result that is told before its call would be undone by it, so those that stand before their calls come last. */
function resultsAfterCalls(messages: readonly FoldMessage[]): readonly FoldMessage[] {
  const called = new Set(messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
  const seen = new Set<string>();
  const early = new Set<FoldMessage>();
  for (const message of messages) {
    const { tool_call_id: id, tool_calls = [] } = message;
    if (id !== undefined && called.has(id) && !seen.has(id)) early.add(message);
    for (const call of tool_calls) seen.add(call.id);
  }
  if (early.size === 0) return messages;
  return [...messages.filter((message) => !early.has(message)), ...early];
}

function calls({ tool_calls = [] }: FoldMessage, ids: ReadonlySet<string>): boolean {
  return tool_calls.some(({ id }) => ids.has(id));
}

function retracted(messages: readonly FoldMessage[]): UiMessageChunk[] {
  const messageIds = messages.map(({ id }) => id);
  return messageIds.length > 0 ? [{ type: "data-retracted", data: { messageIds } }] : [];
}

/** Without what the run is about to withdraw: its answer is to the last message that stays, and its id can't be changed later. */
function goneBack(fold: ThreadFold, { payload }: EnvelopeOf<"run_start">): ThreadFold {
  const behind = payload.went_back;
  return behind ? { ...fold, messages: fold.messages.filter(({ id }) => !behind.includes(id)) } : fold;
}

function start(fold: ThreadFold): UiMessageChunk {
  const { run } = fold;
  const messageMetadata = run ? { runId: run.client_run_id ?? run.run_id } : {};
  return { type: "start", messageId: answerId(askedLast(fold)), messageMetadata };
}

function usageOf({ usage }: ThreadFold): JsonObject {
  return { usage: { ...usage } };
}

function ending(fold: ThreadFold, { status, error }: PayloadOf<"run_end">): UiMessageChunk {
  if (status === "error") return { type: "error", errorText: error?.message ?? "The run failed." };
  if (status === "cancelled") return { type: "abort", reason: "The run was stopped." };
  const finishReason = status === "success" ? "stop" : "other";
  return { type: "finish", finishReason, messageMetadata: usageOf(fold) };
}

function custom(name: string, value: Json): UiMessageChunk {
  return { type: "data-custom", data: { name, value }, transient: true };
}
