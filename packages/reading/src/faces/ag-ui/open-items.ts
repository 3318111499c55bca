import { PREDICT_STATE } from "../../fold/predictions.js";
import type { OpenMessage, OpenStep, OpenSubagent, ThreadProjection } from "../../fold/thread-fold.js";
import type { AgUiEvent, AgUiVersion } from "./event.js";
import { reasoningId, showsSubagents } from "./messages.js";

/** Encodes the starts and ends of a projection's open items. */
export interface OpenItems {
  startStep(step: OpenStep): AgUiEvent;
  endStep(step: OpenStep): AgUiEvent;
  startSubagent(subagent: OpenSubagent, projection: ThreadProjection): AgUiEvent[];
  endSubagent(subagent: OpenSubagent, status: string, projection: ThreadProjection): AgUiEvent[];
  owner(subagentId: string | null, projection: ThreadProjection): { subagentRunId?: string };
  /** START events of all open items, in an order that lets each refer to those before it. */
  starts(projection: ThreadProjection): AgUiEvent[];
  /** END events of all open items, innermost first. */
  ends(projection: ThreadProjection, status: string): AgUiEvent[];
  endMessage(message: OpenMessage, projection: ThreadProjection): AgUiEvent[];
  endReasoning(message: OpenMessage, projection: ThreadProjection): AgUiEvent[];
  startReasoning(message: OpenMessage, projection: ThreadProjection): AgUiEvent[];
  isShown(item: { readonly subagent_id: string | null }, projection: ThreadProjection): boolean;
}

export function createOpenItems(line: AgUiVersion): OpenItems {
  function isShown(item: { readonly subagent_id: string | null }, projection: ThreadProjection): boolean {
    return item.subagent_id === null || showsSubagents(projection, line);
  }

  function owner(subagentId: string | null, projection: ThreadProjection): { subagentRunId?: string } {
    return subagentId !== null && showsSubagents(projection, line) ? { subagentRunId: subagentId } : {};
  }

  function startReasoning(message: OpenMessage, projection: ThreadProjection): AgUiEvent[] {
    const messageId = reasoningId(message.message_id);
    const tag = owner(message.subagent_id, projection);
    return [
      { type: "REASONING_START", messageId, ...tag },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...tag },
    ];
  }

  function endReasoning(message: OpenMessage, projection: ThreadProjection): AgUiEvent[] {
    const messageId = reasoningId(message.message_id);
    const tag = owner(message.subagent_id, projection);
    return [
      { type: "REASONING_MESSAGE_END", messageId, ...tag },
      { type: "REASONING_END", messageId, ...tag },
    ];
  }

  function startMessage(message: OpenMessage, projection: ThreadProjection): AgUiEvent[] {
    if (!isShown(message, projection)) return [];
    const tag = owner(message.subagent_id, projection);
    const messageId = message.message_id;
    const events: AgUiEvent[] = message.reasoning_open ? startReasoning(message, projection) : [];
    if (message.text_open) events.push({ type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...tag });
    for (const call of message.tool_calls) {
      if (call.closed) continue;
      events.push({
        type: "TOOL_CALL_START",
        toolCallId: call.id,
        toolCallName: call.name,
        parentMessageId: messageId,
        ...tag,
      });
      if (call.predictions)
        events.push({ type: "CUSTOM", name: PREDICT_STATE, value: [...call.predictions] });
    }
    return events;
  }

  function endMessage(message: OpenMessage, projection: ThreadProjection): AgUiEvent[] {
    if (!isShown(message, projection)) return [];
    const tag = owner(message.subagent_id, projection);
    const events: AgUiEvent[] = message.reasoning_open ? endReasoning(message, projection) : [];
    for (const call of message.tool_calls) {
      if (!call.closed) events.push({ type: "TOOL_CALL_END", toolCallId: call.id, ...tag });
    }
    if (message.text_open) events.push({ type: "TEXT_MESSAGE_END", messageId: message.message_id, ...tag });
    return events;
  }

  function startSubagent(subagent: OpenSubagent, projection: ThreadProjection): AgUiEvent[] {
    if (!showsSubagents(projection, line)) return [];
    return [
      {
        type: "SUBAGENT_STARTED",
        subagentRunId: subagent.call_id,
        name: subagent.name,
        ...(subagent.parent_id !== null && { parentSubagentRunId: subagent.parent_id }),
        ...(subagent.tool_call_id !== null && { parentToolCallId: subagent.tool_call_id }),
      },
    ];
  }

  function endSubagent(subagent: OpenSubagent, status: string, projection: ThreadProjection): AgUiEvent[] {
    if (!showsSubagents(projection, line)) return [];
    const id = subagent.call_id;
    if (status === "error" || status === "cancelled") {
      return [{ type: "SUBAGENT_ERROR", subagentRunId: id, message: `${subagent.name} ${ENDINGS[status]}.` }];
    }
    const type = status === "interrupted" ? "suspended" : "success";
    return [{ type: "SUBAGENT_FINISHED", subagentRunId: id, outcome: { type } }];
  }

  const startStep = (step: OpenStep): AgUiEvent => ({ type: "STEP_STARTED", stepName: step.name });
  const endStep = (step: OpenStep): AgUiEvent => ({ type: "STEP_FINISHED", stepName: step.name });

  return {
    startStep,
    endStep,
    startSubagent,
    endSubagent,
    owner,
    isShown,
    startReasoning,
    endReasoning,
    endMessage,
    starts: (projection) => [
      ...projection.openSubagents.flatMap((subagent) => startSubagent(subagent, projection)),
      ...projection.openSteps.map(startStep),
      ...projection.openMessages.flatMap((message) => startMessage(message, projection)),
    ],
    ends: (projection, status) => [
      ...projection.openMessages.flatMap((message) => endMessage(message, projection)),
      ...projection.openSteps.toReversed().map(endStep),
      ...projection.openSubagents
        .toReversed()
        .flatMap((subagent) => endSubagent(subagent, status, projection)),
    ],
  };
}

const ENDINGS = { error: "failed", cancelled: "was stopped" } as const;
