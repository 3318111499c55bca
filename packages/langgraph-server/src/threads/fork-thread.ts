import {
  type Clock,
  type GraphCheckpoint,
  type GraphStatePort,
  newRunId,
  ThroughlineError,
} from "@throughline/ai-core";
import { emptyFold } from "@throughline/reading";
import type { ForkOrigin, Lease, RunRegistry, ThreadDirectory } from "@throughline/thread-log";
import { capRefusal } from "../attachments/attachment-limits.js";
import type { FileReceiver } from "../attachments/receive-file.js";
import type { DrivingRunService } from "../drive/create-run-service.js";
import { type SaidWriter, toFindable } from "../search/said-writer.js";
import { emptyRequest, toRunRow } from "../thread/run-request.js";
import type { ThreadAddress } from "../thread/thread-address.js";

export interface ForkDeps {
  readonly registry: RunRegistry;
  readonly state: GraphStatePort;
  readonly runs: Pick<DrivingRunService, "reconcile">;
  readonly directory: ThreadDirectory;
  readonly attachments: FileReceiver;
  readonly said: Pick<SaidWriter, "note">;
  readonly clock: Clock;
  readonly lease: Lease;
}

export interface Fork {
  readonly from: ThreadAddress;
  readonly checkpointId: string;
  readonly to: ThreadAddress;
  /** The new thread is the old one in another place, not a fork of it: it says of itself what that one said. */
  readonly isMove?: boolean;
}

/**
 * Makes a thread that begins at another's checkpoint. The copy is written under a lease of the new thread, so no run starts in
 * it meanwhile; then the log is told as of any checkpoint that no run of ours made (R6). If the instance dies, the one that
 * finds the lease reconciles the thread.
 */
export async function forkThread(
  deps: ForkDeps,
  { from, checkpointId, to, isMove = false }: Fork,
): Promise<void> {
  const { registry, state, directory, attachments, clock, lease } = deps;
  const source = { graphId: from.graphId, threadId: from.ref.threadId };
  const target = { graphId: to.graphId, threadId: to.ref.threadId };
  const checkpoint = await state.getState(source, checkpointId);
  if (!checkpoint) {
    throw new ThroughlineError("not_found", "checkpointId: this thread has no such checkpoint.", {
      details: { field: "checkpointId" },
    });
  }
  if ((await directory.find(to.ref)) || (await state.getState(target))) throw taken();
  const origin = await directory.find(from.ref);
  const started = await registry.start({
    ...lease,
    thread: to.ref,
    stateKey: to.stateKey,
    runId: newRunId(clock),
    graphId: to.graphId,
    origin: { kind: "client", id: `fork:${from.threadName}` },
    start: { kind: "resume", answers: {} },
    request: toRunRow(emptyRequest("reconcile", to, `fork:${checkpointId}`)),
    strategy: "reject",
    listing: { threadName: to.threadName, derivedTitle: origin?.title },
  });
  if (started.kind !== "started") throw taken();
  const { fence } = started;
  try {
    const cap = await attachments.store.copyThread(from.ref, to.ref, attachments.limits);
    if (cap !== undefined) throw capRefusal(cap, attachments.limits, "threadName");
    await state.copyThread(source, checkpointId, target, fence);
    await directory.change(to.ref, {
      model: origin?.model,
      forkedFrom: isMove ? origin?.forkedFrom : originOf(from, to, checkpoint),
    });
    await registry.finish(fence, { status: "success" });
  } catch (error) {
    // Half a copy would be a thread that is not listed and whose name is taken. The caller is to hear why the copy failed, not
    // what failed after it.
    await state.deleteThread(target, fence).catch(() => {});
    await registry.finish(fence, { status: "error" }).catch(() => {});
    await Promise.allSettled([directory.deleteThread(to.ref), attachments.store.deleteThread(to.ref)]);
    throw error;
  }
  deps.said.note({ thread: to.ref, said: (checkpoint.messages ?? []).flatMap(toFindable), gone: [] });
  await deps.runs.reconcile(to, emptyFold);
}

/** What a person calls a private thread of theirs is not told to those they share a fork of it with. */
function originOf(from: ThreadAddress, to: ThreadAddress, at: GraphCheckpoint): ForkOrigin | undefined {
  const { subject } = from.ref;
  if (subject !== undefined && to.ref.subject === undefined) return undefined;
  const { checkpointId, messages } = at;
  return { threadName: from.threadName, subject, checkpointId, messageId: messages?.at(-1)?.id };
}

function taken(): ThroughlineError {
  return new ThroughlineError("conflict", "threadName: there is a thread of this name already.", {
    details: { field: "threadName" },
  });
}
