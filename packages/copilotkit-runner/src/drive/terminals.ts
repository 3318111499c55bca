import type { ErrorCode, JsonObject, PayloadOf } from "@throughline/ai-core";
import type { FinalStatus } from "@throughline/thread-log";
import { type AgUiEvent, isObject, textOf } from "../events/ag-ui-event.js";

export interface RunIds {
  /** As the client calls them. */
  readonly threadId: string;
  readonly runId: string;
}

/** How a run ends: the event that clients get, and what log and registry say of it. */
export interface RunEnding {
  readonly event: AgUiEvent;
  readonly entry: PayloadOf<"run_end">;
  readonly status: FinalStatus;
}

/** AG-UI's RUN_ERROR has no ids; they stand in metadata, which clients of both protocol versions keep. */
export function runError({ threadId, runId }: RunIds, code: ErrorCode, message: string): AgUiEvent {
  return { type: "RUN_ERROR", message, code, metadata: { throughline: { threadId, runId, code } } };
}

export function failed(ids: RunIds, code: ErrorCode, message: string): RunEnding {
  return {
    event: runError(ids, code, message),
    entry: { status: "error", error: { code, message } },
    status: code === "run_lost" ? "lost" : "error",
  };
}

/** A person wanted it to end, so it is no error. AG-UI 0.0 fails on the outcome `cancelled`: the status is in metadata. */
export function stopped({ threadId, runId }: RunIds): RunEnding {
  return {
    event: {
      type: "RUN_FINISHED",
      threadId,
      runId,
      metadata: { throughline: { threadId, runId, status: "cancelled" } },
    },
    entry: { status: "cancelled" },
    status: "cancelled",
  };
}

/** The agent's own terminal, with the ids that the run began with: some agents end it with others, or none. */
export function ended({ threadId, runId }: RunIds, event: AgUiEvent): RunEnding {
  if (event.type === "RUN_ERROR") {
    const message = textOf(event.message) ?? "The agent failed.";
    return {
      event: { ...event, message },
      entry: { status: "error", error: { code: "run_failed", message } },
      status: "error",
    };
  }
  const outcome: JsonObject = isObject(event.outcome) ? event.outcome : {};
  if (outcome.type === "cancelled") return stopped({ threadId, runId });
  const status = outcome.type === "interrupt" ? "interrupted" : "success";
  return { event: { ...event, threadId, runId }, entry: { status }, status };
}
