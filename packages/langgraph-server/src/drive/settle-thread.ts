import { newRunId } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/stream-adapter";
import type { LeasedRun } from "@throughline/thread-log";
import type { ThreadAddress } from "../hub/thread-address.js";
import type { DriverDeps } from "./driver-deps.js";
import { readThreadFold } from "./read-thread-fold.js";
import { toRunRow } from "./run-request.js";

/**
 * R6: an idle thread whose checkpoint is not the one the log ends with was changed by somebody else. What it became enters
 * the log as a run of its own, marked coarse (R31). Every instance that notices asks for the same run, so one of them writes
 * it. Gives the run to drive; `undefined` when there is nothing to tell, or somebody tells it already.
 */
export async function settleThread(
  deps: Pick<DriverDeps, "log" | "state" | "registry" | "clock" | "lease">,
  thread: ThreadAddress,
  fold: ThreadFold,
): Promise<LeasedRun | undefined> {
  const { state, registry, clock, lease } = deps;
  const { ref, graphId, stateKey } = thread;
  if (fold.run?.open) return undefined;
  const checkpoint = await state.getState({ graphId, threadId: ref.threadId });
  if (checkpoint === undefined || checkpoint.checkpointId === fold.checkpoint_id) return undefined;
  // A run that is about to begin will tell everything itself.
  if ((await registry.active(ref)) !== undefined) return undefined;
  // The caller's fold may be a moment old, in which a run of ours has passed.
  const { fold: newest } = await readThreadFold(deps, thread);
  if (newest.run?.open || newest.checkpoint_id === checkpoint.checkpointId) return undefined;
  const started = await registry.start({
    ...lease,
    thread: ref,
    stateKey,
    runId: newRunId(clock),
    alias: `checkpoint:${checkpoint.checkpointId}`,
    graphId,
    origin: { kind: "foreign", ...(checkpoint.runId !== undefined && { id: checkpoint.runId }) },
    // Answers nothing, so it may pass while a question is open.
    start: { kind: "resume", answers: {} },
    request: toRunRow({
      work: "settle",
      stateKey,
      ingressRequestId: `checkpoint:${checkpoint.checkpointId}`,
      caller: {
        billingAccountId: ref.account,
        ...(ref.subject !== undefined && { subject: ref.subject }),
        virtualKeyId: "none",
        traceId: `checkpoint:${checkpoint.checkpointId}`,
      },
      model: "none",
      tools: [],
      context: [],
      profile: "user",
    }),
    strategy: "reject",
  });
  return started.kind === "started" ? started : undefined;
}
