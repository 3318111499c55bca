import { newRunId } from "@throughline/ai-core";
import type { ThreadProjection } from "@throughline/reading";
import type { LeasedRun } from "@throughline/thread-log";
import { acquireAt } from "../streams/thread-followers.js";
import { encodeRunSpec, systemRunSpec } from "../threads/run-spec.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import type { DriverDeps } from "./run-driver.js";

/**
 * R6: an idle thread whose checkpoint is not the one the log ends with was changed from outside. What it became enters the
 * log as a run of its own, marked coarse (R31). Every instance that notices starts the same run, so one of them writes it.
 * Returns the run to drive; `undefined` when there is nothing to record, or it is recorded already.
 */
export async function reconcileThread(
  deps: Pick<DriverDeps, "log" | "views" | "state" | "registry" | "directory" | "clock" | "lease">,
  thread: ThreadAddress,
  fold: ThreadProjection,
  isRunning: () => Promise<boolean> = async () => false,
): Promise<LeasedRun | undefined> {
  const { log, state, registry, clock, lease } = deps;
  const { ref, graphId, stateKey, threadName } = thread;
  if (fold.run?.open) return undefined;
  const checkpoint = await state.getState({ graphId, threadId: ref.threadId });
  if (checkpoint === undefined || checkpoint.checkpointId === fold.checkpoint_id) return undefined;
  const name = `checkpoint:${checkpoint.checkpointId}`;
  const runId = newRunId(clock);
  // A run in progress, here or upstream, records everything itself. Checked only now: one that made the checkpoint is
  // either still running, or done with it.
  const look = await registry.look({ thread: ref, runId, alias: name, answers: [] });
  if (look.runs.running !== undefined || look.same !== undefined || look.isClosed || (await isRunning())) {
    return undefined;
  }
  // The caller's fold may be a moment old, in which a run of ours has passed.
  const newest = await foldAtHead(deps, thread, look.head);
  if (newest.run?.open || newest.checkpoint_id === checkpoint.checkpointId) return undefined;
  const started = await registry.start(
    {
      ...lease,
      thread: ref,
      stateKey,
      runId,
      alias: name,
      graphId,
      origin: { kind: "foreign", ...(checkpoint.runId !== undefined && { id: checkpoint.runId }) },
      // Responds to nothing, so it may pass while an interrupt is open.
      start: { kind: "resume", answers: {} },
      request: encodeRunSpec(systemRunSpec("reconcile", thread, name)),
      strategy: "reject",
      listing: { threadName, derivedTitle: undefined },
    },
    look,
  );
  if (started.kind !== "started") return undefined;
  if (await state.getState({ graphId, threadId: ref.threadId })) return started;
  // The thread was deleted between the two reads. Where the log holds nothing, starting has brought back an empty thread.
  if (started.head.seq > 0) await registry.finish(started.fence, { status: "cancelled" });
  else {
    await log.deleteThread(ref);
    await registry.release(started.fence);
    await registry.deleteThread(ref);
    await deps.directory.deleteThread(ref);
  }
  return undefined;
}

async function foldAtHead(
  { views }: Pick<DriverDeps, "views">,
  thread: ThreadAddress,
  head: LeasedRun["head"] | undefined,
): Promise<ThreadProjection> {
  const taken = await acquireAt(views, thread, head);
  try {
    return taken.view.fold();
  } finally {
    taken.release();
  }
}
