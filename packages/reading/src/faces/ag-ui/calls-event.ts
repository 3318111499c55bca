import type { JsonObject } from "@throughline/ai-core";
import type { CallName, FoldCall } from "../../fold/fold-call.js";
import type { AgUiEvent } from "./event.js";

/**
 * The tree of work beside the conversation. `whole`: these are all there are; else each replaces what was known of its
 * `(runId, callId)`, or is new. `gone`: no longer kept, each with all below it; the call that they hung below counts them.
 */
export function callsEvent(told: {
  readonly whole: boolean;
  readonly calls: readonly FoldCall[];
  readonly gone?: readonly CallName[];
  /** How many runs before these are no longer kept. */
  readonly earlierRuns?: number | undefined;
}): AgUiEvent {
  const gone = (told.gone ?? []).map(({ run_id, call_id }) => ({ runId: run_id, callId: call_id }));
  return {
    type: "CUSTOM",
    name: "throughline.calls",
    value: {
      whole: told.whole,
      calls: told.calls.map(toWire),
      ...(gone.length > 0 && { gone }),
      ...(told.earlierRuns !== undefined && { earlierRuns: told.earlierRuns }),
    },
  };
}

function toWire(call: FoldCall): JsonObject {
  return {
    runId: call.run_id,
    callId: call.call_id,
    parentId: call.parent_id,
    kind: call.kind,
    name: call.name,
    attempt: call.attempt,
    status: call.status,
    startedAt: call.started_at,
    endedAt: call.ended_at,
    ...(call.message_id !== undefined && { messageId: call.message_id }),
    ...(call.tool_call_id !== undefined && { toolCallId: call.tool_call_id }),
    ...(call.args !== undefined && { args: call.args }),
    ...(call.result !== undefined && { result: call.result }),
    ...(call.progress !== undefined && { progress: call.progress }),
    ...(call.usage && { usage: { ...call.usage } }),
    ...(call.error && { error: { ...call.error } }),
    ...(call.earlier !== undefined && { earlier: call.earlier }),
    ...(call.started_by && { startedBy: origin(call.started_by) }),
    ...(call.answered && {
      answered: call.answered.map(({ interrupt_id, words }) => ({ interruptId: interrupt_id, words })),
    }),
  };
}

function origin({ kind, id, person }: NonNullable<FoldCall["started_by"]>): JsonObject {
  return { kind, ...(id !== undefined && { id }), ...(person !== undefined && { person }) };
}
