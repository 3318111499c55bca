import { ThroughlineError } from "@throughline/ai-core";
import type {
  HeartbeatResult,
  Lease,
  LeasedRun,
  RunName,
  RunRegistry,
  StopResult,
} from "../registry/run-registry.js";
import { nameOf, STOP_TOMBSTONE_MS } from "../registry/start-decision.js";
import { subjectKey, type ThreadRef, threadKey } from "../thread-ref.js";
import { type MemoryDatabase, type MemoryRun, mintToken } from "./database.js";
import {
  askToStop,
  bumpRevision,
  endRun,
  finishRun,
  heldRun,
  interruptsOf,
  leaseRun,
  namedRun,
  notifyStopListeners,
  queuedOf,
  runningOf,
  runsOf,
  setAsideQuestions,
  toRecord,
  unansweredOf,
} from "./runs.js";
import { countOpen, readThreadRuns, startRun, stopKey } from "./start-run.js";

/** Each call is one turn of the event loop, which is what a statement under the thread's lock is elsewhere. */
export function createMemoryRunRegistry(database: MemoryDatabase): RunRegistry {
  const { clock, runs } = database;

  /** R24, R28: the waiting run of a thread that may run now. */
  function claimable(thread: ThreadRef): MemoryRun | undefined {
    if (runningOf(database, thread)) return undefined;
    const blocked = unansweredOf(database, thread).length > 0;
    return queuedOf(database, thread).find(
      ({ start: from, preempts }) => !blocked || preempts || from?.kind !== "input",
    );
  }

  function claim(run: MemoryRun, by: Lease): LeasedRun {
    if (run.preempts && run.start?.kind === "input") setAsideQuestions(database, run.thread);
    return leaseRun(database, run, by);
  }

  async function stop(thread: ThreadRef, name: RunName): Promise<StopResult> {
    const run = namedRun(database, thread, name);
    if (!run) {
      database.stops.set(stopKey(thread, nameOf(name)), clock.now() + STOP_TOMBSTONE_MS);
      bumpRevision(database, thread);
      return { kind: "unknown" };
    }
    if (run.status === "queued") {
      for (const interrupt of interruptsOf(database, thread).values()) {
        if (interrupt.answeredBy !== run.runId) continue;
        interrupt.answeredBy = undefined;
        interrupt.answer = undefined;
      }
      endRun(database, run, "cancelled");
      notifyStopListeners(database, run.runId);
      return { kind: "cancelled", run: toRecord(run) };
    }
    if (run.status !== "running") return { kind: "ended", run: toRecord(run) };
    askToStop(database, run.runId);
    return { kind: "stopping", run: toRecord(run) };
  }

  async function deleteThread(thread: ThreadRef): Promise<string | undefined> {
    const open = runningOf(database, thread);
    const active = open && expiryOf(open) >= clock.now() ? open : undefined;
    for (const run of runsOf(database, thread)) if (run !== active) runs.delete(run.runId);
    database.interrupts.delete(threadKey(thread));
    const stopsOf = stopKey(thread, "");
    for (const key of database.stops.keys()) if (key.startsWith(stopsOf)) database.stops.delete(key);
    const row = database.threads.get(threadKey(thread));
    if (row) row.revision += 1;
    if (row && row.fence > 0n) row.fence = mintToken(database, row);
    if (active) askToStop(database, active.runId);
    return active?.runId;
  }

  return {
    look: async (request) => readThreadRuns(database, request),
    start: async (request, look) => startRun(database, request, look),
    async claimNext(thread, by) {
      const next = claimable(thread);
      return next && claim(next, by);
    },
    async claimQueued(by, limit) {
      const next = [...runs.values()].filter(
        (run) => run.status === "queued" && claimable(run.thread) === run,
      );
      return next.slice(0, limit).map((run) => claim(run, by));
    },
    async claimExpired(by, limit) {
      // A run that a deleted thread left running belongs to the deletion: recovered, it would recreate the thread.
      const due = [...runs.values()]
        .filter((run) => expiryOf(run) < clock.now() && !database.threads.get(threadKey(run.thread))?.deleted)
        // By arrival where both were released: two infinities have no difference.
        .sort((a, b) => expiryOf(a) - expiryOf(b) || 0);
      return due.slice(0, limit).map((run) => {
        if (run.owner !== undefined) run.attempt += 1;
        if (expiryOf(run) > Number.NEGATIVE_INFINITY) {
          run.crashes += 1;
          run.presumedDead = run.token;
        }
        return leaseRun(database, run, by);
      });
    },
    async heartbeat(fences, { leaseMs }): Promise<HeartbeatResult> {
      const lost: string[] = [];
      const stopping: string[] = [];
      for (const fence of fences) {
        const run = heldRun(database, fence);
        if (!run) lost.push(fence.runId);
        else {
          if (run.stopRequested) stopping.push(run.runId);
          else run.leaseUntil = clock.now() + leaseMs;
        }
      }
      return { lost, stopping };
    },
    async release(fence, { isFresh } = { isFresh: false }) {
      const held = heldRun(database, fence);
      const run = runs.get(fence.runId);
      if (held) {
        held.leaseUntil = Number.NEGATIVE_INFINITY;
        if (isFresh) held.owner = undefined;
      } else if (run?.presumedDead === fence.token) {
        run.crashes -= 1;
        run.presumedDead = undefined;
      } else return;
      if (run) bumpRevision(database, run.thread);
      for (const listener of database.releaseListeners) queueMicrotask(listener);
    },
    async setUpstreamRun(fence, upstreamRunId) {
      const run = heldRun(database, fence);
      if (run) run.upstreamRunId = upstreamRunId;
      return run !== undefined;
    },
    finish: async (fence, end) => finishRun(database, fence, end),
    stop,
    async find(thread, name) {
      const run = namedRun(database, thread, name);
      return run && toRecord(run);
    },
    async findInAccount(account, runId) {
      const run = database.runs.get(runId);
      return run?.thread.account === account ? toRecord(run) : undefined;
    },
    async active(thread) {
      const run = runningOf(database, thread);
      return run && toRecord(run);
    },
    async open(thread) {
      const active = runningOf(database, thread);
      return [...(active ? [active] : []), ...queuedOf(database, thread)].map(toRecord);
    },
    async list(thread, limit) {
      return runsOf(database, thread).reverse().slice(0, limit).map(toRecord);
    },
    async openInterrupts(thread) {
      return unansweredOf(database, thread).map(({ interruptId, runId }) => ({ interruptId, runId }));
    },
    countOpen: async (account) => countOpen(database, account),
    async pruneEnded(olderThanMs, limit) {
      const now = clock.now();
      for (const [key, expiresAt] of database.stops) if (expiresAt < now) database.stops.delete(key);
      const past = [...runs.values()]
        .filter(({ endedAt, runId, thread }) => {
          if (endedAt === undefined || endedAt >= now - olderThanMs) return false;
          return !unansweredOf(database, thread).some((interrupt) => interrupt.runId === runId);
        })
        .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))
        .slice(0, limit);
      for (const run of past) {
        runs.delete(run.runId);
        const known = interruptsOf(database, run.thread);
        for (const [id, { answeredBy }] of known) if (answeredBy === run.runId) known.delete(id);
      }
      return past.length;
    },
    deleteThread,
    async deleteAccount(account, subject) {
      const inScope = ({ thread }: { readonly thread: ThreadRef }) =>
        thread.account === account && (subject === undefined || subjectKey(thread) === subject);
      const threads = new Map(
        [...database.threads.values()].filter(inScope).map(({ thread }) => [threadKey(thread), thread]),
      );
      const stopped = await Promise.all([...threads.values()].map(deleteThread));
      return stopped.filter((runId) => runId !== undefined);
    },
    onStop(listener) {
      database.stopListeners.add(listener);
      return () => void database.stopListeners.delete(listener);
    },
    onReleased(listener) {
      database.releaseListeners.add(listener);
      return () => void database.releaseListeners.delete(listener);
    },
    async assertHeld(fence) {
      const run = heldRun(database, fence);
      if (run && database.threads.get(threadKey(run.thread))?.fence === fence.token) return;
      throw new ThroughlineError("conflict", "Another instance drives this run by now.");
    },
  };
}

function expiryOf({ status, leaseUntil }: MemoryRun): number {
  return status === "running" && leaseUntil !== undefined ? leaseUntil : Number.POSITIVE_INFINITY;
}
