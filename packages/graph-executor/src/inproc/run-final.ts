import type { GraphFinal, Interrupt, RunStatus, ThroughlineError } from "@throughline/ai-core";
import { toPlainObject } from "@throughline/coerce";
import { takeFiles } from "../attachments/found-files.js";
import { newestCheckpoint, type ThreadReading, waitingQuestions } from "./thread-reading.js";

/** How the reading of a run's stream came to its end. */
export type StreamEnd =
  | { readonly kind: "ended" }
  /** An error of ours; `cancelled` where the run was stopped on purpose. */
  | { readonly kind: "failed"; readonly error: ThroughlineError };

/** The stream says whether the run failed; everything else is what the checkpoint says. */
export function toGraphFinal(end: StreamEnd, reading: ThreadReading | undefined): GraphFinal {
  const waiting = reading ? waitingQuestions(reading) : [];
  const checkpoint = reading && newestCheckpoint(reading);
  const status = statusOf(end, reading, waiting);
  return {
    ok: status === "success" || status === "interrupted",
    status,
    ...(end.kind === "failed" && { error: end.error }),
    ...(checkpoint && {
      checkpointId: checkpoint.checkpointId,
      state: checkpoint.state,
      ...(checkpoint.messages && { messages: checkpoint.messages }),
      ...(checkpoint.files && { files: checkpoint.files }),
    }),
    // Also of a run that failed or was stopped: a question it did not answer is still asked.
    interrupts: status === "success" ? [] : waiting,
  };
}

/** Adds what the run gave in channels that its checkpoint lacks; the next run begins without it, as LangGraph's does. */
export function withMissing(final: GraphFinal, missing: Readonly<Record<string, unknown>>): GraphFinal {
  if (!final.state || Object.keys(missing).length === 0) return final;
  const { value, files } = takeFiles(missing);
  const found = [...(final.files ?? []), ...files];
  return {
    ...final,
    state: { ...final.state, ...toPlainObject(value) },
    ...(found.length > 0 && { files: found }),
  };
}

function statusOf(
  end: StreamEnd,
  reading: ThreadReading | undefined,
  waiting: readonly Interrupt[],
): RunStatus {
  if (end.kind === "failed") return end.error.code === "cancelled" ? "cancelled" : "error";
  // Nodes left to run without a question: the graph was compiled with a breakpoint.
  const stoppedShort = waiting.length > 0 || (reading?.openTasks.length ?? 0) > 0;
  return stoppedShort ? "interrupted" : "success";
}
