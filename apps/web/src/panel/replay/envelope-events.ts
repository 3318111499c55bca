import type { AgentEvent, CallView, WireMessage } from "@throughline/agent-client";
import type { Envelope, EnvelopeOf, Json, JsonObject } from "@throughline/ai-core";
import { callChanges } from "./call-changes";

/** What has been told of a run so far, for telling the rest. Belongs to one telling, which goes forward only. */
export interface TellerMemory {
  readonly open: Map<string, Set<"text" | "reasoning">>;
  /** Tool calls of a message by their place in it. */
  readonly toolCalls: Map<string, Map<number, string>>;
  readonly subagentOf: Map<string, string>;
  readonly calls: Map<string, CallView>;
}

export function newTellerMemory(): TellerMemory {
  return { open: new Map(), toolCalls: new Map(), subagentOf: new Map(), calls: new Map() };
}

/** What a page would have been told with this entry. Read again from the log, not the service's own bytes. */
export function envelopeEvents(memory: TellerMemory, envelope: Envelope): readonly AgentEvent[] {
  const changes = callChanges(memory.calls, envelope);
  for (const call of changes) memory.calls.set(call.callId, call);
  const told = conversationEvents(memory, envelope);
  if (changes.length === 0) return told;
  const value = { whole: false, calls: changes as unknown as Json[] };
  return [...told, { type: "CUSTOM", name: "throughline.calls", value }];
}

function conversationEvents(memory: TellerMemory, envelope: Envelope): readonly AgentEvent[] {
  switch (envelope.type) {
    case "run_start":
      return [startOf(envelope)];
    case "llm_start": {
      const { message_id, subagent_id } = envelope.payload;
      if (subagent_id !== undefined) memory.subagentOf.set(message_id, subagent_id);
      return [];
    }
    case "llm_token":
      return tokenEvents(memory, envelope);
    case "llm_end":
      return endEvents(memory, envelope.payload.message_id);
    case "tool_end": {
      const { kind, message_id, result, status } = envelope.payload;
      if (kind !== "tool") return [];
      return [
        {
          type: "TOOL_CALL_RESULT",
          messageId: message_id ?? `${envelope.call_id}/result`,
          toolCallId: envelope.call_id,
          content: typeof result === "string" ? result : JSON.stringify(result),
          ...(status === "error" && { metadata: { throughline: { status: "error" } } }),
        },
      ];
    }
    case "state_snapshot": {
      // Its messages are the whole thread's: this is about one run.
      const { state } = envelope.payload;
      return state ? [{ type: "STATE_SNAPSHOT", snapshot: state }] : [];
    }
    case "state_delta":
      return [{ type: "STATE_DELTA", delta: envelope.payload.ops }];
    case "run_end":
      return [endOf(envelope)];
    default:
      return [];
  }
}

function startOf({ run_id, thread_id, attempt, payload }: EnvelopeOf<"run_start">): AgentEvent {
  return {
    type: "RUN_STARTED",
    threadId: thread_id,
    runId: run_id,
    input: { messages: payload.input.messages.map(toWire) },
    metadata: { throughline: { runId: run_id, attempt } },
  };
}

function endOf({ run_id, thread_id, payload: { status, error } }: EnvelopeOf<"run_end">): AgentEvent {
  if (status === "error") {
    return {
      type: "RUN_ERROR",
      message: error?.message ?? "The run failed.",
      code: error?.code ?? "run_failed",
    };
  }
  const type = status === "interrupted" ? "interrupt" : status;
  return { type: "RUN_FINISHED", threadId: thread_id, runId: run_id, outcome: { type } };
}

function tokenEvents(memory: TellerMemory, { payload }: EnvelopeOf<"llm_token">): readonly AgentEvent[] {
  const { message_id, text, reasoning, tool_call } = payload;
  const events: AgentEvent[] = [];
  const subagentRunId = memory.subagentOf.get(message_id);
  const nested = subagentRunId === undefined ? {} : { subagentRunId };
  const open = memory.open.get(message_id) ?? new Set();
  memory.open.set(message_id, open);
  if (reasoning !== undefined && reasoning !== "") {
    const messageId = reasoningId(message_id);
    if (!open.has("reasoning")) events.push({ type: "REASONING_MESSAGE_START", messageId, ...nested });
    open.add("reasoning");
    events.push({ type: "REASONING_MESSAGE_CONTENT", messageId, delta: reasoning });
  }
  if (text !== undefined && text !== "") {
    if (!open.has("text")) events.push({ type: "TEXT_MESSAGE_START", messageId: message_id, ...nested });
    open.add("text");
    events.push({ type: "TEXT_MESSAGE_CONTENT", messageId: message_id, delta: text });
  }
  if (tool_call) {
    const calls = memory.toolCalls.get(message_id) ?? new Map<number, string>();
    memory.toolCalls.set(message_id, calls);
    if (tool_call.id !== undefined && !calls.has(tool_call.index)) {
      calls.set(tool_call.index, tool_call.id);
      const toolCallName = tool_call.name ?? "tool";
      events.push({
        type: "TOOL_CALL_START",
        toolCallId: tool_call.id,
        toolCallName,
        parentMessageId: message_id,
        ...nested,
      });
    }
    const toolCallId = calls.get(tool_call.index);
    if (toolCallId !== undefined && tool_call.args) {
      events.push({ type: "TOOL_CALL_ARGS", toolCallId, delta: tool_call.args });
    }
  }
  return events;
}

function endEvents(memory: TellerMemory, messageId: string): readonly AgentEvent[] {
  const open = memory.open.get(messageId);
  const calls = memory.toolCalls.get(messageId);
  memory.open.delete(messageId);
  memory.toolCalls.delete(messageId);
  return [
    ...(open?.has("reasoning")
      ? [{ type: "REASONING_MESSAGE_END" as const, messageId: reasoningId(messageId) }]
      : []),
    ...[...(calls?.values() ?? [])].map((toolCallId) => ({ type: "TOOL_CALL_END" as const, toolCallId })),
    ...(open?.has("text") ? [{ type: "TEXT_MESSAGE_END" as const, messageId }] : []),
  ];
}

const reasoningId = (messageId: string) => `${messageId}/reasoning`;

type LoggedMessage = EnvelopeOf<"run_start">["payload"]["input"]["messages"][number];

function toWire(message: LoggedMessage): WireMessage {
  const { id, role, content, name, tool_call_id, tool_calls } = message;
  return {
    id,
    role,
    content: content as string | readonly JsonObject[],
    ...(name !== undefined && { name }),
    ...(tool_call_id !== undefined && { toolCallId: tool_call_id }),
    ...(tool_calls && {
      toolCalls: tool_calls.map((call) => ({
        id: call.id,
        function: { name: call.name, arguments: call.args },
      })),
    }),
  };
}
