import type { GraphStatePort, LogPosition, RunStatus } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/reading";
import type { RunRecord, ThreadLog } from "@throughline/thread-log";
import { readRun } from "../thread/read-run.js";
import { streamedMessages } from "./streamed-messages.js";

/** Where an attempt begins. */
export type RecoveryPlan =
  /** Nothing of the run is in the log. */
  | { readonly kind: "fresh" }
  /** An earlier attempt was shown; these of its messages are in no checkpoint and will be streamed anew. */
  | { readonly kind: "again"; readonly withdrawn: readonly string[] }
  /** Its end is in the log, and its driver died before the registry heard of it. Only where the two are different stores. */
  | { readonly kind: "ended"; readonly status: RunStatus; readonly interrupts: readonly string[] };

/** R27: asked after the fence was raised, so that what is read here can't change any more. */
export async function planRecovery(
  { log, state }: { readonly log: Pick<ThreadLog, "read" | "terminal">; readonly state: GraphStatePort },
  run: RunRecord,
  { fold, position }: { readonly fold: ThreadFold; readonly position: LogPosition | undefined },
): Promise<RecoveryPlan> {
  if (run.attempt === 0 || position === undefined) return { kind: "fresh" };
  const end = await log.terminal(run.thread, run.runId);
  if (end?.envelope.type === "run_end") {
    const { status } = end.envelope.payload;
    const interrupts = fold.interrupts.map(({ interrupt_id }) => interrupt_id);
    return { kind: "ended", status, interrupts };
  }
  const entries = await readRun(log, run.thread, run.runId, position);
  if (entries.length === 0) return { kind: "fresh" };
  const shown = streamedMessages(entries);
  const committed = await state.committedMessages(
    { graphId: run.graphId, threadId: run.thread.threadId },
    shown,
  );
  return {
    kind: "again",
    withdrawn: shown.map(({ messageId }) => messageId).filter((id) => !committed.has(id)),
  };
}
