import {
  type ExternalRunName,
  isStoreOutage,
  retryStore,
  ThroughlineError,
  type Timer,
} from "@throughline/ai-core";
import type { ThreadProjection } from "@throughline/reading";
import {
  type LeasedRun,
  type RunName,
  type RunRecord,
  type StartResult,
  type StopResult,
  type ThreadRef,
  threadKey,
} from "@throughline/thread-log";
import { untilElapsed } from "../operations/poller.js";
import { clientRunIdOf } from "../threads/run-spec.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { createDriverCapacity, type DriverPermit } from "./driver-capacity.js";
import { editState, type StateEdit } from "./edit-state.js";
import { adoptForeignRun } from "./external-runs.js";
import { reconcileThread } from "./reconcile-thread.js";
import { type Reaper, startReaper } from "./recovery.js";
import { type DrivenRun, type DriverDeps, driveRun } from "./run-driver.js";
import type { RunService, StartOutcome, StartRunRequest, StopOutcome } from "./start-request.js";
import { type StartDeps, startRun } from "./start-run.js";
import { createArrivals, createPendingStops, createStopsDuringClaim } from "./stop-runs.js";

export interface RunServiceOptions extends DriverDeps, Omit<StartDeps, "whenDone" | "enter"> {
  /** Whether graphs run here. Where they do not, runs are recorded and left to instances where they do. */
  readonly drives: boolean;
  readonly reapEveryMs: number;
  /** Runs this instance drives at once. Past that starts are refused, and what others leave is left to others. */
  readonly maxDriven: number;
  /** Whether this instance's clock is that of the database. While it is not, nothing is started or claimed here. */
  readonly isClockRight: () => boolean;
  readonly random: () => number;
}

export interface DrivingRunService extends RunService {
  /**
   * R6: resolves when the log of an idle thread matches its checkpoint; `false` when it already did, or the thread is
   * not idle. `isRunning`: whether something else runs in it.
   */
  reconcile(
    thread: ThreadAddress,
    fold: ThreadProjection,
    isRunning?: () => Promise<boolean>,
  ): Promise<boolean>;
  /**
   * R5: makes sure that an external run is driven. Resolves when the run is in the registry and, if it is driven here, its
   * beginning in the log.
   */
  adopt(thread: ThreadAddress, run: ExternalRunName): Promise<void>;
  /**
   * Edits an idle thread's state; resolves when the log has the edit, with the run that wrote it, if anything was to change.
   * Throws `not_found`, `busy`, `interrupt_pending`, `conflict` where the state is not the one that was seen, and
   * `invalid_input` where the graph refuses it. Nothing has changed then.
   */
  editState(thread: ThreadAddress, edit: StateEdit): Promise<string | undefined>;
  /** Claims abandoned and queued runs now, where graphs run here. */
  reap(): Promise<void>;
}

/** How long a closing instance waits for its stores, to release leases and to apply stops. */
const CLOSE_GRACE_MS = 3_000;
/** How long a run may wait for a worker's claim, which takes milliseconds. */
const CLAIM_PATIENCE_MS = 10_000;

export function createRunService(deps: RunServiceOptions): DrivingRunService {
  const { registry, clock, lease, observer } = deps;
  const driven = new Map<string, DrivenRun>();
  const arrivals = createArrivals();
  const stopsDuringClaim = createStopsDuringClaim(registry);
  const closed = new AbortController();
  const stops = createPendingStops<StopOutcome>(clock, closed.signal);
  /** Runs that have ended and whose successor is being claimed: their permit is the successor's. */
  let succeeding = 0;
  const capacity = createDriverCapacity(deps.maxDriven, () => driven.size + succeeding, deps.isClockRight);
  const whenDone = (runId: string) => driven.get(runId)?.done;
  let closing = false;

  function drive(leased: LeasedRun): DrivenRun {
    const driving = driveRun(deps, leased, { closed: closed.signal });
    const { runId, thread } = leased.run;
    driven.set(runId, driving);
    if (stopsDuringClaim.has(runId)) driving.stop();
    if (closing) driving.handOver();
    void driving.done.then(async ({ next }) => {
      // This instance may have recovered the run and drive it again by now.
      if (driven.get(runId) === driving) driven.delete(runId);
      if (next) {
        succeeding += 1;
        await driveNext(thread);
        succeeding -= 1;
      }
      // It was full, so what was released meanwhile has been left to others, who may be full, too.
      if (capacity.available() === 1) void reaper?.now();
    });
    return driving;
  }

  async function driveNext(thread: ThreadRef): Promise<void> {
    if (closing || !deps.isClockRight()) return;
    try {
      const next = await stopsDuringClaim.during(() => registry.claimNext(thread, lease));
      if (next) drive(next);
    } catch (error) {
      observer.failed("The next run of a thread could not be claimed; the reaper claims it.", error);
    }
  }

  const reaper: Reaper | undefined = deps.drives
    ? startReaper({
        ...deps,
        registry: {
          claimExpired: (by, limit) => stopsDuringClaim.during(() => registry.claimExpired(by, limit)),
          claimQueued: (by, limit) => stopsDuringClaim.during(() => registry.claimQueued(by, limit)),
        },
        everyMs: deps.reapEveryMs,
        room: capacity.available,
        drive,
      })
    : undefined;
  const forgetReleases = registry.onReleased(() => void reaper?.now());
  const leaving = new Set<Promise<void>>();
  let claimCheck: Timer | undefined;

  /** Left in the background: the run is recorded, and one that could not be left is claimed when its lease is over. */
  function leaveToWorkers({ run, fence }: LeasedRun): void {
    const left = retryStore({ clock, signal: closed.signal }, () =>
      registry.release(fence, { isFresh: true }),
    )
      .catch((error: unknown) => {
        observer.failed("A run could not be left to a worker; it is claimed when its lease is over.", error);
      })
      .finally(() => leaving.delete(left));
    leaving.add(left);
    // One timer at a time: without a worker, all runs wait.
    claimCheck ??= clock.schedule(CLAIM_PATIENCE_MS, () => {
      claimCheck = undefined;
      void requireClaimed(run);
    });
  }

  async function requireClaimed({ thread, runId }: RunRecord): Promise<void> {
    try {
      const run = await registry.find(thread, { runId });
      if (run?.status === "running" && run.owner === undefined)
        observer.noticed("A run waits for an instance with the role worker, and none has claimed it.");
    } catch (error) {
      if (!isStoreOutage(error)) observer.failed("Whether a run was claimed could not be read.", error);
    }
  }

  function requireOpen(): void {
    if (closing) throw new ThroughlineError("shutting_down", "This instance takes no new runs.");
  }

  async function start(request: StartRunRequest): Promise<StartOutcome> {
    requireOpen();
    const result = await startHere(request);
    const outcome: StartOutcome = result.kind === "started" ? { kind: "started", run: result.run } : result;
    const { kind } = outcome;
    if (kind === "busy" || kind === "conflict" || kind === "interrupt_pending") observer.startRefused(kind);
    return request.arrival?.isStopped(request.thread.ref) ? stopArrived(outcome) : outcome;
  }

  /** The permit is held until the run itself counts. An instance that drives nothing admits any number. */
  async function startHere(request: StartRunRequest): Promise<StartResult> {
    let permit: DriverPermit | undefined;
    const enter = (isFollowing: boolean) => {
      permit?.leave();
      permit = deps.drives ? capacity.acquire(isFollowing) : undefined;
    };
    try {
      const result = await stopsDuringClaim.during(() => startRun({ ...deps, whenDone, enter }, request));
      if (result.kind === "started") (deps.drives ? drive : leaveToWorkers)(result);
      return result;
    } finally {
      permit?.leave();
    }
  }

  /** R25: its thread was stopped while the request was on its way: that was meant for it. */
  async function stopArrived(outcome: StartOutcome): Promise<StartOutcome> {
    if (outcome.kind !== "started" && outcome.kind !== "queued") return outcome;
    const { thread, runId } = outcome.run;
    const result = await retryStore({ clock, signal: closed.signal }, () => stopNamed(thread, { runId }));
    return result.kind === "cancelled" ? result : outcome;
  }

  async function stop({ ref }: ThreadAddress, runId?: string): Promise<StopOutcome> {
    const key = `${threadKey(ref)}\u0000${runId ?? ""}`;
    if (runId === undefined) {
      // Also what is on its way: what is in the registry by now is found there, what is not yet will find this.
      arrivals.stop(ref);
      return stops.stop(key, () => stopThread(ref));
    }
    // A run that is driven here is stopped at once, whether or not the store can be reached.
    const here = drivenHere(ref, runId);
    here?.stop();
    try {
      return await stops.stop(key, async () => toOutcome(await stopAsked(ref, runId, here)));
    } catch (error) {
      if (here && isStoreOutage(error)) return { kind: "stopping", runId: here.run.runId };
      throw error;
    }
  }

  /** The run by that name, or, where that has ended, the run of a response that was sent under the same name. */
  async function stopAsked(
    thread: ThreadRef,
    runId: string,
    here: DrivenRun | undefined,
  ): Promise<StopResult> {
    const result = await stopNamed(thread, await nameOf(thread, runId, here));
    if (result.kind !== "ended") return result;
    const active = await registry.active(thread);
    const isAnswer =
      active?.alias !== undefined && active.alias !== runId && clientRunIdOf(active.alias) === runId;
    return isAnswer ? stopNamed(thread, { runId: active.runId }) : result;
  }

  async function stopThread(thread: ThreadRef): Promise<StopOutcome> {
    let first: StopOutcome | undefined;
    // Queued runs before the active one, or one of them would become active next.
    for (const { runId } of (await registry.open(thread)).toReversed()) {
      const outcome = toOutcome(await stopNamed(thread, { runId }));
      if (outcome.kind === "stopping" || outcome.kind === "cancelled") first = outcome;
    }
    return first ?? { kind: "idle" };
  }

  async function stopNamed(thread: ThreadRef, name: RunName): Promise<StopResult> {
    const result = await registry.stop(thread, name);
    stopHere(result);
    return result;
  }

  /** Stops a run that is driven here without waiting for the registry's notification to its driver. */
  function stopHere(result: StopResult): void {
    if (result.kind === "stopping") driven.get(result.run.runId)?.stop();
  }

  /** A client knows a run by its own id, or by ours from a frame's metadata. */
  function drivenHere(thread: ThreadRef, runId: string): DrivenRun | undefined {
    const own = driven.get(runId);
    if (own?.run.thread.threadId === thread.threadId) return own;
    for (const driving of driven.values()) {
      const { run } = driving;
      if (run.alias === runId && run.thread.threadId === thread.threadId) return driving;
    }
    return undefined;
  }

  async function nameOf(thread: ThreadRef, runId: string, here: DrivenRun | undefined): Promise<RunName> {
    if (here) return { runId: here.run.runId };
    return (await registry.find(thread, { runId })) ? { runId } : { alias: runId };
  }

  return {
    start,
    stop,
    arriving: arrivals.arriving,
    active: ({ ref }) => registry.active(ref),
    driving: () => driven.size,
    reap: async () => reaper?.now(),
    async reconcile(thread, fold, isRunning) {
      const leased = closing
        ? undefined
        : await stopsDuringClaim.during(() => reconcileThread(deps, thread, fold, isRunning));
      if (leased) await drive(leased).done;
      return leased !== undefined;
    },
    async editState(thread, edit) {
      requireOpen();
      const permit = capacity.acquire(false);
      try {
        const leased = await stopsDuringClaim.during(() => editState(deps, thread, edit));
        if (leased) await drive(leased).done;
        return leased?.run.runId;
      } catch (error) {
        // Runs that came meanwhile wait behind the refused edit.
        void driveNext(thread.ref);
        throw error;
      } finally {
        permit.leave();
      }
    },
    async adopt(thread, run) {
      const leased = closing
        ? undefined
        : await stopsDuringClaim.during(() => adoptForeignRun(deps, thread, run));
      if (leased) await drive(leased).begun;
    },
    async close({ drainMs }) {
      closing = true;
      forgetReleases();
      claimCheck?.cancel();
      await reaper?.close();
      const drained = Promise.all([...driven.values()].map(({ done }) => done));
      await within(drainMs, drained);
      const lastWords = clock.schedule(CLOSE_GRACE_MS, () => closed.abort());
      while (driven.size > 0) {
        for (const driving of driven.values()) driving.handOver();
        await Promise.all([...driven.values()].map(({ done }) => done));
      }
      await Promise.all(leaving);
      await stops.applied();
      lastWords.cancel();
      closed.abort();
      stopsDuringClaim.close();
    },
  };

  async function within(ms: number, work: Promise<unknown>): Promise<void> {
    const patience = untilElapsed(clock, ms);
    await Promise.race([work, patience]);
    patience.cancel();
  }
}

function toOutcome(result: StopResult): StopOutcome {
  return result.kind === "unknown" ? result : { kind: result.kind, runId: result.run.runId };
}
