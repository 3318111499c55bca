import type { GraphRunRequest } from "@throughline/ai-core";

/** What LangChain's tracers (LangSmith and others) call a run and file it under. */
export interface RunTrace {
  readonly runId?: string;
  readonly runName: string;
  readonly metadata: Readonly<Record<string, string | number>>;
}

/**
 * A trace has the id of our run, so that it is found by what log and console show. A later attempt is a trace of its own,
 * because an id can't be used twice; it is found by its metadata. `thread_id` is added by LangGraph itself. The names are
 * ours: LangGraph reads `run_id` in metadata for itself.
 */
export function runTrace({
  runId,
  attempt,
  graphId,
  caller,
}: Pick<GraphRunRequest, "runId" | "attempt" | "graphId" | "caller">): RunTrace {
  return {
    ...(attempt === 0 && { runId }),
    runName: graphId,
    metadata: {
      throughline_run_id: runId,
      throughline_attempt: attempt,
      throughline_account: caller.billingAccountId,
      throughline_trace_id: caller.traceId,
    },
  };
}
