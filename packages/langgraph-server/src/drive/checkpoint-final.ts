import type { GraphFinal, GraphStatePort } from "@throughline/ai-core";
import type { RunRecord } from "@throughline/thread-log";

/**
 * How a thread stands by its checkpoint, told as the end of a run without subscribers (R6, R31). With nodes left to run it pauses,
 * whether or not it asks something.
 */
export async function checkpointFinal(
  state: GraphStatePort,
  { graphId, thread }: Pick<RunRecord, "graphId" | "thread">,
): Promise<GraphFinal> {
  const checkpoint = await state.getState({ graphId, threadId: thread.threadId });
  const interrupts = checkpoint?.interrupts ?? [];
  return {
    ok: true,
    status: interrupts.length + (checkpoint?.next.length ?? 0) > 0 ? "interrupted" : "success",
    ...(checkpoint && {
      checkpointId: checkpoint.checkpointId,
      state: checkpoint.state,
      ...(checkpoint.messages && { messages: checkpoint.messages }),
      ...(checkpoint.files && { files: checkpoint.files }),
    }),
    interrupts,
  };
}
