import type { JsonObject } from "@throughline/ai-core";
import type { CallName, ProjectedCall } from "../../fold/fold-call.js";
import type { AgUiEvent } from "./event.js";

/**
 * Encodes the call tree, or a change of it, as a custom event. `whole`: these are all calls; else each replaces the one with
 * its `(runId, callId)`, or is new. `gone`: evicted, each with all calls below it; their parent call counts them.
 */
export function callsEvent(change: {
  readonly whole: boolean;
  readonly calls: readonly ProjectedCall[];
  readonly gone?: readonly CallName[];
  /** The number of evicted runs before these. */
  readonly earlierRuns?: number | undefined;
}): AgUiEvent {
  const gone = (change.gone ?? []).map(({ run_id, call_id }) => ({ runId: run_id, callId: call_id }));
  return {
    type: "CUSTOM",
    name: "throughline.calls",
    value: {
      whole: change.whole,
      calls: change.calls.map(toWire),
      ...(gone.length > 0 && { gone }),
      ...(change.earlierRuns !== undefined && { earlierRuns: change.earlierRuns }),
    },
  };
}

function toWire(call: ProjectedCall): JsonObject {
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

function origin({ kind, id, person }: NonNullable<ProjectedCall["started_by"]>): JsonObject {
  return { kind, ...(id !== undefined && { id }), ...(person !== undefined && { person }) };
}
