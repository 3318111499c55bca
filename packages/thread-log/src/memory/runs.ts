import type { Fence } from "@throughline/ai-core";
import type {
  FinalStatus,
  Finish,
  FinishResult,
  Lease,
  LeasedRun,
  RunName,
  RunRecord,
} from "../registry/run-registry.js";
import { statusAfter } from "../thread-directory.js";
import { type ThreadRef, threadKey } from "../thread-ref.js";
import {
  ensureThread,
  type MemoryDatabase,
  type MemoryInterrupt,
  type MemoryRun,
  mintToken,
} from "./database.js";

// Each of these is done within one turn of the event loop, which is what a transaction under the thread's lock is elsewhere.

export function runsOf({ runs }: MemoryDatabase, thread: ThreadRef): MemoryRun[] {
  const key = threadKey(thread);
  return [...runs.values()].filter((run) => threadKey(run.thread) === key);
}

export function runningOf(database: MemoryDatabase, thread: ThreadRef): MemoryRun | undefined {
  return runsOf(database, thread).find(({ status }) => status === "running");
}

/** R24: in the order in which they will run. */
export function queuedOf(database: MemoryDatabase, thread: ThreadRef): MemoryRun[] {
  const waiting = runsOf(database, thread).filter(({ status }) => status === "queued");
  return [...waiting.filter(({ preempts }) => preempts), ...waiting.filter(({ preempts }) => !preempts)];
}

export function namedRun(database: MemoryDatabase, thread: ThreadRef, name: RunName): MemoryRun | undefined {
  return runsOf(database, thread).find((run) =>
    "runId" in name ? run.runId === name.runId : run.alias === name.alias,
  );
}

export function heldRun({ runs }: MemoryDatabase, { runId, token }: Pick<Fence, "runId" | "token">) {
  const run = runs.get(runId);
  return run?.status === "running" && run.token === token ? run : undefined;
}

export function interruptsOf(database: MemoryDatabase, thread: ThreadRef): Map<string, MemoryInterrupt> {
  const key = threadKey(thread);
  const found = database.interrupts.get(key) ?? new Map<string, MemoryInterrupt>();
  database.interrupts.set(key, found);
  return found;
}

export function unansweredOf(database: MemoryDatabase, thread: ThreadRef): MemoryInterrupt[] {
  return [...interruptsOf(database, thread).values()].filter(({ answeredBy }) => answeredBy === undefined);
}

/** A graph that is given new input drops what it asked: an answer that comes after that has nothing to answer. */
export function setAsideQuestions(database: MemoryDatabase, thread: ThreadRef): void {
  for (const { interruptId } of unansweredOf(database, thread)) {
    interruptsOf(database, thread).delete(interruptId);
  }
}

/** To be called with every change of a thread's runs, stops or interrupts. */
export function bumpRevision(database: MemoryDatabase, thread: ThreadRef): void {
  ensureThread(database, thread).revision += 1;
}

/** Bumps the thread's fence, so that every earlier writer is refused from here on (R17), and hands the run to the owner. */
export function leaseRun(database: MemoryDatabase, run: MemoryRun, { owner, leaseMs }: Lease): LeasedRun {
  const row = ensureThread(database, run.thread);
  row.fence = mintToken(database, row);
  row.deleted = false;
  row.revision += 1;
  run.status = "running";
  run.owner = owner;
  run.token = row.fence;
  run.leaseUntil = database.clock.now() + leaseMs;
  const listing = database.listings.get(threadKey(run.thread));
  if (listing) {
    listing.status = "running";
    listing.lastRunId = run.runId;
    listing.token = run.token;
    listing.lastActivityAt = database.clock.now();
  }
  return {
    run: toRecord(run),
    fence: { threadId: run.thread.threadId, runId: run.runId, token: run.token },
    head: { epoch: row.epoch, seq: row.head },
  };
}

export function endRun(database: MemoryDatabase, run: MemoryRun, status: FinalStatus): void {
  run.status = status;
  run.endedAt = database.clock.now();
  run.owner = undefined;
  run.leaseUntil = undefined;
  run.start = undefined;
  bumpRevision(database, run.thread);
}

export function finishRun(
  database: MemoryDatabase,
  fence: Pick<Fence, "runId" | "token">,
  finish: Finish,
): FinishResult {
  const { status, interrupts = [], upstreamRunId } = finish;
  const run = heldRun(database, fence);
  if (!run) {
    return { ok: false, reason: database.runs.get(fence.runId)?.status === "running" ? "fenced" : "ended" };
  }
  endRun(database, run, status);
  run.upstreamRunId = upstreamRunId ?? run.upstreamRunId;
  setAsideQuestions(database, run.thread);
  const known = interruptsOf(database, run.thread);
  for (const interruptId of interrupts) {
    known.set(interruptId, { interruptId, runId: run.runId, answeredBy: undefined, answer: undefined });
  }
  const listing = database.listings.get(threadKey(run.thread));
  if (listing) {
    listing.status = statusAfter(finish);
    listing.token = fence.token;
    listing.lastActivityAt = database.clock.now();
  }
  return { ok: true, next: nextOf(database, run.thread) };
}

export function nextOf(database: MemoryDatabase, thread: ThreadRef): string | undefined {
  return queuedOf(database, thread)[0]?.runId;
}

export function askToStop(database: MemoryDatabase, runId: string): void {
  const run = database.runs.get(runId);
  if (!run) return;
  run.stopRequested = true;
  bumpRevision(database, run.thread);
  notifyStopListeners(database, runId);
}

export function notifyStopListeners({ stopListeners }: MemoryDatabase, runId: string): void {
  for (const listener of stopListeners) queueMicrotask(() => listener(runId));
}

export function toRecord(run: MemoryRun): RunRecord {
  const { preempts: _, presumedDead: __, ...record } = run;
  return structuredClone(record);
}
