import type { Fence } from "@throughline/ai-core";
import type { FinalStatus, LeasedRun, RunRegistry, ThreadRef } from "@throughline/thread-log";
import { fromRunRow } from "../thread/run-request.js";
import type { ThreadDirectory, ThreadStatus } from "./thread-directory.js";
import { titleFrom } from "./thread-title.js";

export interface DirectoryKeeper {
  readonly registry: RunRegistry;
  /** Resolves when the directory has every run that this instance has begun by now. */
  written(): Promise<void>;
}

/**
 * The registry, with the directory kept beside it: every lease and every end passes here, whoever asked for the run. The
 * directory is for lists, so a run does not wait for its beginning to be written, and a write that fails is told and costs
 * the run nothing. An end is written before the registry has it: a crash between the two is taken up and written again, while
 * the other way round nobody would come back.
 */
export function keepDirectory(
  registry: RunRegistry,
  directory: ThreadDirectory,
  onError: (error: unknown) => void,
): DirectoryKeeper {
  const leased = new Map<string, ThreadRef>();
  const writing = new Map<string, Promise<void>>();

  function started({ run, fence }: LeasedRun): void {
    leased.set(run.runId, run.thread);
    const { stateKey } = fromRunRow(run.request);
    const write = directory
      .runStarted({
        thread: run.thread,
        graphId: run.graphId,
        threadName: stateKey.slice(stateKey.indexOf("/") + 1),
        runId: run.runId,
        token: fence.token,
        derivedTitle: titleFrom(run.start),
      })
      .catch(onError)
      .finally(() => {
        if (writing.get(run.runId) === write) writing.delete(run.runId);
      });
    writing.set(run.runId, write);
  }

  async function ended({ runId, token }: Fence, status: FinalStatus): Promise<void> {
    const thread = leased.get(runId);
    if (!thread) return;
    await writing.get(runId);
    await directory.runEnded({ thread, token, status: statusAfter(status) }).catch(onError);
  }

  function allStarted(runs: readonly LeasedRun[]): readonly LeasedRun[] {
    for (const run of runs) started(run);
    return runs;
  }

  return {
    async written() {
      await Promise.all(writing.values());
    },
    registry: {
      ...registry,
      async start(request) {
        const result = await registry.start(request);
        if (result.kind === "started") started(result);
        return result;
      },
      async claimNext(thread, lease) {
        const next = await registry.claimNext(thread, lease);
        if (next) started(next);
        return next;
      },
      claimQueued: async (lease, limit) => allStarted(await registry.claimQueued(lease, limit)),
      claimExpired: async (lease, limit) => allStarted(await registry.claimExpired(lease, limit)),
      async finish(fence, end) {
        await ended(fence, end.status);
        const result = await registry.finish(fence, end);
        leased.delete(fence.runId);
        return result;
      },
      async deleteThread(thread) {
        await Promise.all(writing.values());
        await directory.deleteThread(thread);
        return registry.deleteThread(thread);
      },
      async release(fence) {
        // Whoever deletes the thread once nobody holds it must not be overtaken.
        await writing.get(fence.runId);
        leased.delete(fence.runId);
        await registry.release(fence);
      },
    },
  };
}

export function statusAfter(end: FinalStatus): ThreadStatus {
  switch (end) {
    case "success":
    case "cancelled":
      return "idle";
    case "interrupted":
      return "waiting";
    case "error":
    case "lost":
      return "error";
  }
}
