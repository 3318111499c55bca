import { type ExternalRunName, type ExternalRunsPort, newRunId } from "@throughline/ai-core";
import { emptyThreadProjection, type ThreadProjection } from "@throughline/reading";
import type { LeasedRun } from "@throughline/thread-log";
import type { ServiceObserver } from "../operations/observer.js";
import { encodeRunSpec, systemRunSpec } from "../threads/run-spec.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import type { DriverDeps } from "./run-driver.js";

/**
 * R5: records an external run as a row like any other, under a name that every instance derives, so one of them drives it. Returns
 * the run to drive; `undefined` when it is driven already, or is queued after an open run of ours (R24) and is claimed
 * from the queue like any other.
 */
export async function adoptForeignRun(
  { registry, clock, lease }: Pick<DriverDeps, "registry" | "clock" | "lease">,
  { ref, graphId, stateKey, threadName }: ThreadAddress,
  { upstreamRunId, dialect }: ExternalRunName,
): Promise<LeasedRun | undefined> {
  const name = `upstream:${upstreamRunId}`;
  const started = await registry.start({
    ...lease,
    thread: ref,
    stateKey,
    runId: newRunId(clock),
    alias: name,
    graphId,
    origin: { kind: "foreign", id: upstreamRunId },
    // Responds to nothing here, so it passes while an interrupt is open: the upstream let it pass.
    start: { kind: "resume", answers: {} },
    request: encodeRunSpec(systemRunSpec("foreign", { ref, stateKey }, name, dialect)),
    upstreamRunId,
    strategy: "enqueue",
    listing: { threadName, derivedTitle: undefined },
  });
  return started.kind === "started" ? started : undefined;
}

export interface AttendOptions {
  readonly foreignRuns: ExternalRunsPort;
  /** Resolves when the run is in the registry and, if this instance drives it, its beginning in the log. */
  readonly adopt: (thread: ThreadAddress, run: ExternalRunName) => Promise<void>;
  /** R6: brings the log of an idle thread to its checkpoint, if `isRunning` reports that it is idle upstream too. */
  readonly reconcile: (
    thread: ThreadAddress,
    fold: ThreadProjection,
    isRunning: () => Promise<boolean>,
  ) => Promise<boolean>;
  readonly observer: Pick<ServiceObserver, "failed">;
}

/** Appends external runs to the logs of threads that have subscribers on this instance, while they run. */
export interface ExternalRunFollower {
  /** Follows external runs of the thread until the returned function is called. */
  attend(thread: ThreadAddress): () => void;
  /**
   * R6 where others run graphs too: a thread with an external run in progress is not idle, and that run is adopted.
   * Resolves when the log has everything; `false` when it already had.
   */
  reconcile(thread: ThreadAddress, fold: ThreadProjection): Promise<boolean>;
  close(): void;
}

interface Attended {
  readonly thread: ThreadAddress;
  readonly leave: () => void;
  /** Runs that need not be adopted any more: a run is reported at every poll. */
  readonly adopted: Set<string>;
}

export function followExternalRuns({
  foreignRuns,
  adopt,
  reconcile,
  observer,
}: AttendOptions): ExternalRunFollower {
  // A thread's upstream id is derived from all that names it here, so it names one thread.
  const attended = new Map<string, Attended>();
  const adoptions = new Map<string, Promise<void>>();

  /** A client that connects and the watcher see a run at the same moment: they wait for the same beginning. */
  function adoptOnce(thread: ThreadAddress, run: ExternalRunName): Promise<void> {
    const { upstreamRunId } = run;
    const adopting =
      adoptions.get(upstreamRunId) ?? adopt(thread, run).finally(() => adoptions.delete(upstreamRunId));
    adoptions.set(upstreamRunId, adopting);
    return adopting;
  }

  async function adoptRunning(thread: ThreadAddress): Promise<boolean> {
    const running = await foreignRuns.active(thread.ref.threadId);
    for (const run of running) await adoptOnce(thread, run);
    return running.length > 0;
  }

  async function reconcileOrAdopt(thread: ThreadAddress, fold: ThreadProjection): Promise<boolean> {
    if (await adoptRunning(thread)) return true;
    let begunSince = false;
    const isRunning = async () => {
      begunSince = await adoptRunning(thread);
      return begunSince;
    };
    return (await reconcile(thread, fold, isRunning)) || begunSince;
  }

  const watcher = foreignRuns.watch({
    onRun(run) {
      const { threadId, upstreamRunId } = run;
      const known = attended.get(threadId);
      if (!known || known.adopted.has(upstreamRunId)) return;
      known.adopted.add(upstreamRunId);
      adoptOnce(known.thread, run).catch((error: unknown) => {
        known.adopted.delete(upstreamRunId);
        observer.failed("A run of an outsider could not be adopted; it is tried again.", error);
      });
    },
    onStateChange({ threadId }) {
      const known = attended.get(threadId);
      if (!known) return;
      reconcileOrAdopt(known.thread, emptyThreadProjection).catch((error: unknown) =>
        observer.failed("What an outsider did to a thread could not be written down.", error),
      );
    },
  });

  return {
    attend(thread) {
      const { threadId } = thread.ref;
      const entry: Attended = { thread, leave: watcher.watch(threadId), adopted: new Set() };
      attended.set(threadId, entry);
      return () => {
        entry.leave();
        if (attended.get(threadId) === entry) attended.delete(threadId);
      };
    },
    reconcile: reconcileOrAdopt,
    close: () => watcher.close(),
  };
}
