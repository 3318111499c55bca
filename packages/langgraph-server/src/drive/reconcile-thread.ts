import { newRunId } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/stream-adapter";
import type { LeasedRun } from "@throughline/thread-log";
import { readThreadFold } from "../thread/read-thread-fold.js";
import { emptyRequest, toRunRow } from "../thread/run-request.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import type { DriverDeps } from "./driver-deps.js";

/**
 * R6: an idle thread whose checkpoint is not the one the log ends with was changed by somebody else. What it became enters
 * the log as a run of its own, marked coarse (R31). Every instance that notices asks for the same run, so one of them writes
 * it. Gives the run to drive; `undefined` when there is nothing to tell, or somebody tells it already.
 */
export async function reconcileThread(
  deps: Pick<DriverDeps, "log" | "state" | "registry" | "clock" | "lease">,
  thread: ThreadAddress,
  fold: ThreadFold,
  isRunning: () => Promise<boolean> = async () => false,
): Promise<LeasedRun | undefined> {
  const { state, registry, clock, lease } = deps;
  const { ref, graphId, stateKey } = thread;
  if (fold.run?.open) return undefined;
  const checkpoint = await state.getState({ graphId, threadId: ref.threadId });
  if (checkpoint === undefined || checkpoint.checkpointId === fold.checkpoint_id) return undefined;
  // A run that is on its way, here or upstream, tells everything itself. Asked only now: one that made the checkpoint is
  // either still running, or done with it.
  if ((await registry.active(ref)) !== undefined || (await isRunning())) return undefined;
  // The caller's fold may be a moment old, in which a run of ours has passed.
  const { fold: newest } = await readThreadFold(deps, thread);
  if (newest.run?.open || newest.checkpoint_id === checkpoint.checkpointId) return undefined;
  const name = `checkpoint:${checkpoint.checkpointId}`;
  const started = await registry.start({
    ...lease,
    thread: ref,
    stateKey,
    runId: newRunId(clock),
    alias: name,
    graphId,
    origin: { kind: "foreign", ...(checkpoint.runId !== undefined && { id: checkpoint.runId }) },
    // Answers nothing, so it may pass while a question is open.
    start: { kind: "resume", answers: {} },
    request: toRunRow(emptyRequest("reconcile", thread, name)),
    strategy: "reject",
  });
  if (started.kind !== "started") return undefined;
  if (await state.getState({ graphId, threadId: ref.threadId })) return started;
  // Deleted between the look and the start: the thread is put back to rest, and nobody else was let in meanwhile.
  await deps.log.deleteThread(ref);
  await registry.release(started.fence);
  await registry.deleteThread(ref);
  return undefined;
}
