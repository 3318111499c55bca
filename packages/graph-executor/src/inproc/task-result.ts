import type { CheckpointPendingWrite } from "@langchain/langgraph-checkpoint";

/** Pending writes that a task leaves without being done. */
const UNFINISHED_CHANNELS = new Set([
  "__interrupt__",
  "__resume__",
  "__error__",
  "__error_source_node__",
  "__scheduled__",
]);

/** Whether a checkpoint's pending writes hold what a task came to. A task that came to nothing leaves a write as well. */
export function holdsResult(writes: readonly CheckpointPendingWrite[] | undefined, taskId: string): boolean {
  return (writes ?? []).some(
    ([writer, channel]) => writer === taskId && !UNFINISHED_CHANNELS.has(String(channel)),
  );
}
