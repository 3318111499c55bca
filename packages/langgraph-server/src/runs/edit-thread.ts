import {
  type Clock,
  type GraphCheckpoint,
  type GraphStatePort,
  newRunId,
  ThroughlineError,
} from "@throughline/ai-core";
import { emptyThreadProjection } from "@throughline/reading";
import type { ForkOrigin, Lease, RunRegistry, ThreadDirectory, ThreadListing } from "@throughline/thread-log";
import { capRefusal } from "../attachments/media-types.js";
import type { FileReceiver } from "../attachments/receive-file.js";
import type { FeedbackStore } from "../threads/feedback-store.js";
import { type MessageIndexer, toIndexedMessage } from "../threads/message-index.js";
import { encodeRunSpec, systemRunSpec } from "../threads/run-spec.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import type { DrivingRunService } from "./run-service.js";

export interface ForkDeps {
  readonly registry: RunRegistry;
  readonly state: GraphStatePort;
  readonly runs: Pick<DrivingRunService, "reconcile">;
  readonly directory: ThreadDirectory;
  readonly attachments: FileReceiver;
  readonly said: Pick<MessageIndexer, "note">;
  readonly clock: Clock;
  readonly lease: Lease;
}

export interface Fork {
  readonly from: ThreadAddress;
  readonly checkpointId: string;
  readonly to: ThreadAddress;
  /** The new thread is the old one at another address, not a fork of it: it keeps the old one's own fork origin. */
  readonly isMove?: boolean;
}

/**
 * Makes a thread that begins at another's checkpoint. The copy is written under a lease of the new thread, so no run starts in
 * it meanwhile; then the log is reconciled as for any checkpoint that no run of ours made (R6). If the instance dies, the one that
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
    request: encodeRunSpec(systemRunSpec("reconcile", to, `fork:${checkpointId}`)),
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
    // Half a copy would be a thread that is not listed and whose name is in use. The caller gets the reason why the copy failed,
    // not what failed after it.
    await state.deleteThread(target, fence).catch(() => {});
    await registry.finish(fence, { status: "error" }).catch(() => {});
    await Promise.allSettled([directory.deleteThread(to.ref), attachments.store.deleteThread(to.ref)]);
    throw error;
  }
  deps.said.note({ thread: to.ref, said: (checkpoint.messages ?? []).flatMap(toIndexedMessage), gone: [] });
  await deps.runs.reconcile(to, emptyThreadProjection);
}

/** The fork's origin. The name of a private thread is not disclosed to those its fork is shared with. */
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

export interface MoveDeps extends ForkDeps {
  /** Deletes a thread from every store. */
  readonly removeThread: (thread: ThreadAddress) => Promise<void>;
  readonly feedback: Pick<FeedbackStore, "moveThread">;
}

export interface Move {
  readonly from: ThreadAddress;
  readonly to: ThreadAddress;
}

/**
 * Moves a thread to another address: creates it there with its current state, then deletes it here. The address is part of
 * every key, so nothing can be moved in place. The conversation, feedback on it, the files and the open interrupts go along; the
 * log, the runs and the checkpoints of the past do not, so what was edited or left behind is not shown to the people it is shared
 * with.
 */
export async function moveThread(deps: MoveDeps, { from, to }: Move): Promise<void> {
  const { directory, state } = deps;
  const before = await directory.find(from.ref);
  const checkpoint = before && (await state.getState({ graphId: from.graphId, threadId: from.ref.threadId }));
  if (!before || !checkpoint) throw new ThroughlineError("not_found", "There is no such thread.");
  if (before.status === "running") throw isRunning(before.lastRunId);
  await forkThread(deps, { from, checkpointId: checkpoint.checkpointId, to, isMove: true });
  await directory.change(to.ref, {
    isArchived: before.isArchived,
    ...(before.isTitledByPerson && { title: before.title }),
  });
  const after = await directory.find(from.ref);
  if (after && hasRunSince(before, after)) {
    // The copy lacks what this run wrote: the thread remains at its old address.
    await deps.removeThread(to);
    throw isRunning(after.lastRunId);
  }
  const messageIds = (checkpoint.messages ?? []).map(({ id }) => id);
  await deps.feedback.moveThread(from.ref, to.ref, messageIds);
  // A deletion that fails may have begun, so the copy stays: with both there, nothing is lost.
  await deps.removeThread(from);
}

function hasRunSince(before: ThreadListing, after: ThreadListing): boolean {
  return after.status === "running" || after.lastRunId !== before.lastRunId;
}

function isRunning(runId: string): ThroughlineError {
  return new ThroughlineError("busy", "A run is active in this thread. Wait for it to end, or stop it.", {
    details: { runId },
  });
}
