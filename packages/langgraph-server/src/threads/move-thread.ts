import { ThroughlineError } from "@throughline/ai-core";
import type { ThreadListing } from "@throughline/thread-log";
import type { FeedbackStore } from "../feedback/feedback-store.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import { type ForkDeps, forkThread } from "./fork-thread.js";

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
 * Gives a thread another address: begins it there as it stands, then deletes it here. The address is part of every key, so
 * nothing can be moved in place. The conversation, feedback on it, the files and the open questions go along; the log, the runs and the
 * checkpoints of the past do not, so what was edited or left behind is not shown to the people it is shared with.
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
    // The copy lacks what this run says: the thread stays where it is.
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
