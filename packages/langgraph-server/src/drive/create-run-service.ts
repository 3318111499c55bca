import { newRunId, ThroughlineError } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/stream-adapter";
import type {
  LeasedRun,
  RunName,
  RunRecord,
  StartResult,
  StartRun,
  StopResult,
  ThreadRef,
} from "@throughline/thread-log";
import { createArrivals } from "../commands/arrivals.js";
import { requireKnownCommand } from "../commands/command-lane.js";
import { createHeardStops } from "../commands/heard-stops.js";
import { isBeingDeleted } from "../thread/being-deleted.js";
import { readThreadFold } from "../thread/read-thread-fold.js";
import { fromRunRow, toRunRow } from "../thread/run-request.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import { untilElapsed } from "../timing/until-elapsed.js";
import { acceptInput } from "./accept-input.js";
import { adoptForeignRun } from "./adopt-foreign-run.js";
import { type DrivenRun, driveRun } from "./drive-run.js";
import type { DriverDeps } from "./driver-deps.js";
import { type Reaper, startReaper } from "./reaper.js";
import { reconcileThread } from "./reconcile-thread.js";
import type { RunService, StartOutcome, StartRunRequest, StopOutcome } from "./run-service.js";

export interface RunServiceOptions extends DriverDeps {
  readonly defaultModel: string;
  readonly reapEveryMs: number;
  readonly random: () => number;
}

export interface DrivingRunService extends RunService {
  /**
   * R6: resolves when the log of an idle thread says what its checkpoint says; `false` when it did already, or the thread is
   * not idle. `isRunning`: whether somebody else runs something in it.
   */
  reconcile(thread: ThreadAddress, fold: ThreadFold, isRunning?: () => Promise<boolean>): Promise<boolean>;
  /**
   * R5: sees to it that somebody drives a run which an outsider started. Resolves when the run is in the registry and, if
   * it is driven here, its beginning in the log.
   */
  adopt(thread: ThreadAddress, upstreamRunId: string): Promise<void>;
  /** Looks for abandoned and waiting runs now. */
  reap(): Promise<void>;
}

/** R24: how long a run whose end is shown may take to be ended, before somebody who saw it end is told that it is busy. */
const LATE_END_MS = 1_000;
const LATE_END_STEP_MS = 20;

export function createRunService(deps: RunServiceOptions): DrivingRunService {
  const { registry, log, clock, lease, observer } = deps;
  const driven = new Map<string, DrivenRun>();
  const arrivals = createArrivals();
  const heardStops = createHeardStops(registry);
  let closing = false;

  function drive(leased: LeasedRun): DrivenRun {
    const driving = driveRun(deps, leased);
    const { runId, thread } = leased.run;
    driven.set(runId, driving);
    if (heardStops.has(runId)) driving.stop();
    if (closing) driving.handOver();
    void driving.done.then(async ({ next }) => {
      // Taken over from ourselves, the same run may be driven anew by now.
      if (driven.get(runId) === driving) driven.delete(runId);
      if (next) await driveNext(thread);
    });
    return driving;
  }

  async function driveNext(thread: ThreadRef): Promise<void> {
    if (closing) return;
    try {
      const next = await heardStops.during(() => registry.claimNext(thread, lease));
      if (next) drive(next);
    } catch (error) {
      observer.failed("The next run of a thread could not be claimed; it is looked for again.", error);
    }
  }

  const reaper: Reaper = startReaper({
    ...deps,
    registry: {
      claimExpired: (by, limit) => heardStops.during(() => registry.claimExpired(by, limit)),
      claimQueued: (by, limit) => heardStops.during(() => registry.claimQueued(by, limit)),
    },
    everyMs: deps.reapEveryMs,
    drive,
  });

  async function start(request: StartRunRequest): Promise<StartOutcome> {
    if (closing) throw new ThroughlineError("shutting_down", "This instance takes no new runs.");
    const { thread, clientRunId } = request;
    const [agent, same, { fold }] = await Promise.all([
      deps.agents.getAgent(thread.graphId),
      clientRunId === undefined ? undefined : registry.find(thread.ref, { alias: clientRunId }),
      readThreadFold(deps, thread),
    ]);
    if (!agent) {
      throw new ThroughlineError("not_found", `There is no agent "${thread.graphId}".`, {
        details: { graphId: thread.graphId },
      });
    }
    // R25: sent again, a request is what it was, whatever the thread has become since.
    if (same) return { kind: "attached", run: same };
    if (request.command) requireKnownCommand(agent, request.command);
    const from = acceptInput(fold, agent, request.input, request.command);
    if (from.kind === "no_question") {
      // R25: it may be that the same request, sent twice at once, was answered in between.
      const answered = clientRunId && (await registry.find(thread.ref, { alias: clientRunId }));
      return answered ? { kind: "attached", run: answered } : refused({ kind: "conflict", interruptIds: [] });
    }
    const result = await startOrWait({
      ...lease,
      thread: thread.ref,
      stateKey: thread.stateKey,
      runId: newRunId(clock),
      alias: clientRunId,
      graphId: thread.graphId,
      origin: request.origin ?? { kind: "client" },
      start: from,
      request: toRunRow({
        work: "graph",
        stateKey: thread.stateKey,
        ingressRequestId: request.ingressRequestId,
        ...(request.traceparent !== undefined && { traceparent: request.traceparent }),
        caller: request.caller,
        model: request.model ?? deps.defaultModel,
        tools: [...request.tools],
        context: [...request.context],
        command: request.command,
        profile: request.profile,
      }),
      strategy: request.strategy,
    });
    if (result.kind === "started") drive(result);
    const outcome: StartOutcome =
      result.kind === "started" ? { kind: "started", run: result.run } : refused(result);
    return request.arrival?.isStopped(thread.ref) ? stopArrived(outcome) : outcome;
  }

  /** R25: its thread was stopped while the request was on its way: that was meant for it. */
  async function stopArrived(outcome: StartOutcome): Promise<StartOutcome> {
    if (outcome.kind !== "started" && outcome.kind !== "queued") return outcome;
    const { thread, runId } = outcome.run;
    const result = await stopNamed(thread, { runId });
    return result.kind === "cancelled" ? result : outcome;
  }

  function refused(outcome: StartOutcome): StartOutcome {
    const { kind } = outcome;
    if (kind === "busy" || kind === "conflict" || kind === "interrupt_pending") observer.startRefused(kind);
    return outcome;
  }

  /**
   * A run's end is in the log before it is in the registry, so whoever saw it may be quicker than the registry: refused for
   * the sake of a run that has ended, they are let in as soon as that is known. So is a person who goes on in a thread that
   * is being deleted; what a cron wants there may have been deleted with it.
   */
  async function startOrWait(request: StartRun): Promise<StartResult> {
    const deadline = clock.now() + LATE_END_MS;
    for (;;) {
      let result: StartResult;
      try {
        result = await heardStops.during(() => registry.start(request));
      } catch (error) {
        const isPatient = request.origin.kind === "client" && clock.now() < deadline;
        if (!isPatient || !isBeingDeleted(error)) throw error;
        await untilElapsed(clock, LATE_END_STEP_MS);
        continue;
      }
      const isRefused = result.kind === "busy" || result.kind === "conflict";
      if (!isRefused || clock.now() >= deadline) return result;
      const active = await registry.active(request.thread);
      if (active ? !(await isEnding(active)) : result.kind === "conflict") return result;
      const step = untilElapsed(clock, LATE_END_STEP_MS);
      await Promise.race(
        [step, active && driven.get(active.runId)?.done].filter((wait) => wait !== undefined),
      );
      step.cancel();
    }
  }

  /** Its end is shown, or it is no run that anybody asked for and takes a moment. */
  async function isEnding(run: RunRecord): Promise<boolean> {
    const isMoment = fromRunRow(run.request).work === "reconcile";
    return isMoment || (await log.terminal(run.thread, run.runId)) !== undefined;
  }

  async function stop({ ref }: ThreadAddress, runId?: string): Promise<StopOutcome> {
    if (runId === undefined) return stopThread(ref);
    return toOutcome(await stopNamed(ref, await nameOf(ref, runId)));
  }

  async function stopThread(thread: ThreadRef): Promise<StopOutcome> {
    // First these: what is in the registry by now is found there, what is not yet will find this.
    arrivals.stop(thread);
    let first: StopOutcome | undefined;
    // What waits before what runs, or it would take its place.
    for (const { runId } of (await registry.open(thread)).toReversed()) {
      const outcome = toOutcome(await stopNamed(thread, { runId }));
      if (outcome.kind === "stopping" || outcome.kind === "cancelled") first = outcome;
    }
    return first ?? { kind: "idle" };
  }

  async function stopNamed(thread: ThreadRef, name: RunName): Promise<StopResult> {
    const result = await registry.stop(thread, name);
    // The driver is told by the registry too; here it need not wait to hear of it.
    if (result.kind === "stopping") driven.get(result.run.runId)?.stop();
    return result;
  }

  /** A client knows a run by its own id, or by ours from a frame's metadata. */
  async function nameOf(thread: ThreadRef, runId: string): Promise<RunName> {
    return (await registry.find(thread, { runId })) ? { runId } : { alias: runId };
  }

  return {
    start,
    stop,
    arriving: arrivals.arriving,
    active: ({ ref }) => registry.active(ref),
    driving: () => driven.size,
    reap: () => reaper.now(),
    async reconcile(thread, fold, isRunning) {
      const leased = closing
        ? undefined
        : await heardStops.during(() => reconcileThread(deps, thread, fold, isRunning));
      if (leased) await drive(leased).done;
      return leased !== undefined;
    },
    async adopt(thread, upstreamRunId) {
      const leased = closing
        ? undefined
        : await heardStops.during(() => adoptForeignRun(deps, thread, upstreamRunId));
      if (leased) await drive(leased).begun;
    },
    async close({ drainMs }) {
      closing = true;
      await reaper.close();
      const drained = Promise.all([...driven.values()].map(({ done }) => done));
      const patience = untilElapsed(clock, drainMs);
      await Promise.race([drained, patience]);
      patience.cancel();
      while (driven.size > 0) {
        for (const driving of driven.values()) driving.handOver();
        await Promise.all([...driven.values()].map(({ done }) => done));
      }
      heardStops.close();
    },
  };
}

function toOutcome(result: StopResult): StopOutcome {
  return result.kind === "unknown" ? result : { kind: result.kind, runId: result.run.runId };
}
