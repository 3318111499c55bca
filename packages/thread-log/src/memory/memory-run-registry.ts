import { type Fence, ThroughlineError } from "@throughline/ai-core";
import type {
  Finish,
  FinishResult,
  HeartbeatResult,
  Lease,
  LeasedRun,
  RunName,
  RunRecord,
  RunRegistry,
  StartResult,
  StartRun,
  StopResult,
} from "../port/run-registry.js";
import { subjectKey, type ThreadRef, threadKey } from "../port/thread-ref.js";
import { answerIds, canonicalJson, decideStart } from "../registry/decide-start.js";
import { BUSY_RETRY_MS, checkAlias, nameOf, STOP_TOMBSTONE_MS } from "../registry/run-names.js";
import {
  ensureThread,
  type MemoryDatabase,
  type MemoryInterrupt,
  type MemoryRun,
  mintToken,
} from "./memory-database.js";

/** Asked in the turn that makes something, before it is made; throws what forbids it. */
export type Admit = (scope: Partial<ThreadRef> & Pick<ThreadRef, "account">) => void;

/** Each call is one turn of the event loop, which is what a transaction under the thread's lock is elsewhere. */
export function createMemoryRunRegistry(
  database: MemoryDatabase,
  { admit }: { readonly admit?: Admit } = {},
): RunRegistry {
  const { clock, runs } = database;
  const runsOf = (thread: ThreadRef) => {
    const key = threadKey(thread);
    return [...runs.values()].filter((run) => threadKey(run.thread) === key);
  };
  const running = (thread: ThreadRef) => runsOf(thread).find(({ status }) => status === "running");
  const queued = (thread: ThreadRef) => {
    const waiting = runsOf(thread).filter(({ status }) => status === "queued");
    return [...waiting.filter(({ preempts }) => preempts), ...waiting.filter(({ preempts }) => !preempts)];
  };
  const interruptsOf = (thread: ThreadRef): Map<string, MemoryInterrupt> => {
    const key = threadKey(thread);
    const found = database.interrupts.get(key) ?? new Map<string, MemoryInterrupt>();
    database.interrupts.set(key, found);
    return found;
  };
  const unanswered = (thread: ThreadRef) =>
    [...interruptsOf(thread).values()].filter(({ answeredBy }) => answeredBy === undefined);
  const named = (thread: ThreadRef, name: RunName) =>
    runsOf(thread).find((run) => ("runId" in name ? run.runId === name.runId : run.alias === name.alias));
  const held = ({ runId, token }: Fence): MemoryRun | undefined => {
    const run = runs.get(runId);
    return run?.status === "running" && run.token === token ? run : undefined;
  };
  const stopKey = (thread: ThreadRef, name: string) => `${threadKey(thread)}\u0000${name}`;

  async function start(request: StartRun): Promise<StartResult> {
    checkAlias(request.alias);
    const { thread, runId, alias } = request;
    admit?.(thread);
    const row = ensureThread(database, thread);
    const names = [runId, ...(alias === undefined ? [] : [alias])];
    const same = named(thread, { runId }) ?? (alias === undefined ? undefined : named(thread, { alias }));
    const waiting = queued(thread);
    const decision = decideStart(
      {
        same: same?.runId,
        stopped: names.some((name) => (database.stops.get(stopKey(thread, name)) ?? 0) > clock.now()),
        running: running(thread)?.runId,
        queued: waiting.map((run) => run.runId),
        preempting: waiting.filter(({ preempts }) => preempts).length,
        interrupts: [...interruptsOf(thread).values()],
      },
      request,
    );
    switch (decision.kind) {
      case "attach": {
        const run = runs.get(decision.runId);
        return run
          ? { kind: "attached", run: toRecord(run) }
          : { kind: "conflict", interruptIds: answerIds(request.start) };
      }
      case "conflict":
      case "interrupt_pending":
        return decision;
      case "busy":
        return { ...decision, retryAfterMs: BUSY_RETRY_MS };
      case "cancel": {
        const run = insert(request);
        end(run, "cancelled");
        return { kind: "cancelled", run: toRecord(run) };
      }
      case "queue": {
        const run = insert(request);
        consume(run);
        if (decision.preempted !== undefined) askToStop(decision.preempted);
        return { ...decision, kind: "queued", run: toRecord(run) };
      }
      case "run": {
        row.stateKey = request.stateKey;
        const run = insert(request);
        consume(run);
        if (run.preempts && run.start?.kind === "input") setAsideQuestions(thread);
        return { kind: "started", ...lease(run, request) };
      }
    }
  }

  function insert(request: StartRun): MemoryRun {
    const { thread, runId, alias, graphId, origin, upstreamRunId } = request;
    const run: MemoryRun = {
      thread,
      runId,
      alias,
      graphId,
      origin,
      request: structuredClone(request.request),
      createdAt: clock.now(),
      preempts: request.strategy === "preempt",
      status: "queued",
      start: structuredClone(request.start),
      attempt: 0,
      owner: undefined,
      token: 0n,
      leaseUntil: undefined,
      upstreamRunId,
      stopRequested: false,
      endedAt: undefined,
    };
    runs.set(runId, run);
    return run;
  }

  function consume(run: MemoryRun): void {
    if (run.start?.kind !== "resume") return;
    for (const [interruptId, answer] of Object.entries(run.start.answers)) {
      const interrupt = interruptsOf(run.thread).get(interruptId);
      if (!interrupt) continue;
      interrupt.answeredBy = run.runId;
      interrupt.answer = canonicalJson(answer);
    }
  }

  function lease(run: MemoryRun, { owner, leaseMs }: Lease): LeasedRun {
    const row = ensureThread(database, run.thread);
    row.fence = mintToken(database, row);
    row.deleted = false;
    run.status = "running";
    run.owner = owner;
    run.token = row.fence;
    run.leaseUntil = clock.now() + leaseMs;
    return {
      run: toRecord(run),
      fence: { threadId: run.thread.threadId, runId: run.runId, token: run.token },
    };
  }

  function end(run: MemoryRun, status: Finish["status"]): void {
    run.status = status;
    run.endedAt = clock.now();
    run.owner = undefined;
    run.leaseUntil = undefined;
    run.start = undefined;
  }

  function askToStop(runId: string): void {
    const run = runs.get(runId);
    if (!run) return;
    run.stopRequested = true;
    tellStop(runId);
  }

  function tellStop(runId: string): void {
    for (const listener of database.stopListeners) queueMicrotask(() => listener(runId));
  }

  function setAsideQuestions(thread: ThreadRef): void {
    for (const { interruptId } of unanswered(thread)) interruptsOf(thread).delete(interruptId);
  }

  async function claimNext(thread: ThreadRef, by: Lease): Promise<LeasedRun | undefined> {
    if (running(thread)) return undefined;
    const blocked = unanswered(thread).length > 0;
    const next = queued(thread).find(
      ({ start: from, preempts }) => !blocked || preempts || from?.kind !== "input",
    );
    if (!next) return undefined;
    if (next.preempts && next.start?.kind === "input") setAsideQuestions(thread);
    return lease(next, by);
  }

  async function finish(fence: Fence, { status, interrupts = [] }: Finish): Promise<FinishResult> {
    const run = held(fence);
    if (!run) {
      return { ok: false, reason: runs.get(fence.runId)?.status === "running" ? "fenced" : "ended" };
    }
    end(run, status);
    const known = interruptsOf(run.thread);
    setAsideQuestions(run.thread);
    for (const interruptId of interrupts) {
      known.set(interruptId, { interruptId, runId: run.runId, answeredBy: undefined, answer: undefined });
    }
    return { ok: true, next: queued(run.thread)[0]?.runId };
  }

  async function stop(thread: ThreadRef, name: RunName): Promise<StopResult> {
    const run = named(thread, name);
    if (!run) {
      database.stops.set(stopKey(thread, nameOf(name)), clock.now() + STOP_TOMBSTONE_MS);
      return { kind: "unknown" };
    }
    if (run.status === "queued") {
      for (const interrupt of interruptsOf(thread).values()) {
        if (interrupt.answeredBy !== run.runId) continue;
        interrupt.answeredBy = undefined;
        interrupt.answer = undefined;
      }
      end(run, "cancelled");
      tellStop(run.runId);
      return { kind: "cancelled", run: toRecord(run) };
    }
    if (run.status !== "running") return { kind: "ended", run: toRecord(run) };
    askToStop(run.runId);
    return { kind: "stopping", run: toRecord(run) };
  }

  async function deleteThread(thread: ThreadRef): Promise<string | undefined> {
    const open = running(thread);
    const active = open && expiryOf(open) >= clock.now() ? open : undefined;
    for (const run of runsOf(thread)) if (run !== active) runs.delete(run.runId);
    database.interrupts.delete(threadKey(thread));
    const stopsOf = stopKey(thread, "");
    for (const key of database.stops.keys()) if (key.startsWith(stopsOf)) database.stops.delete(key);
    const row = database.threads.get(threadKey(thread));
    if (row && row.fence > 0n) row.fence = mintToken(database, row);
    if (active) askToStop(active.runId);
    return active?.runId;
  }

  return {
    start,
    claimNext,
    async claimQueued(by, limit) {
      const threads = new Map(
        [...runs.values()]
          .filter(({ status }) => status === "queued")
          .map(({ thread }) => [threadKey(thread), thread]),
      );
      const claimed: LeasedRun[] = [];
      for (const thread of threads.values()) {
        if (claimed.length >= limit) break;
        const leased = await claimNext(thread, by);
        if (leased) claimed.push(leased);
      }
      return claimed;
    },
    async claimExpired(by, limit) {
      // What a deleted thread left running is for whoever deletes it: taken over, it would write its thread anew.
      const due = [...runs.values()]
        .filter((run) => expiryOf(run) < clock.now() && !database.threads.get(threadKey(run.thread))?.deleted)
        .sort((a, b) => expiryOf(a) - expiryOf(b));
      return due.slice(0, limit).map((run) => {
        run.attempt += 1;
        return lease(run, by);
      });
    },
    async heartbeat(fences, { leaseMs }): Promise<HeartbeatResult> {
      const lost: string[] = [];
      const stopping: string[] = [];
      for (const fence of fences) {
        const run = held(fence);
        if (!run) lost.push(fence.runId);
        else {
          if (run.stopRequested) stopping.push(run.runId);
          else run.leaseUntil = clock.now() + leaseMs;
        }
      }
      return { lost, stopping };
    },
    async release(fence) {
      const run = held(fence);
      if (run) run.leaseUntil = Number.NEGATIVE_INFINITY;
    },
    async checkpointed(fence) {
      const run = held(fence);
      if (run) run.start = undefined;
      return run !== undefined;
    },
    async setUpstreamRun(fence, upstreamRunId) {
      const run = held(fence);
      if (run) run.upstreamRunId = upstreamRunId;
      return run !== undefined;
    },
    finish,
    stop,
    async find(thread, name) {
      const run = named(thread, name);
      return run && toRecord(run);
    },
    async active(thread) {
      const run = running(thread);
      return run && toRecord(run);
    },
    async open(thread) {
      const active = running(thread);
      return [...(active ? [active] : []), ...queued(thread)].map(toRecord);
    },
    async list(thread, limit) {
      return runsOf(thread).reverse().slice(0, limit).map(toRecord);
    },
    async openInterrupts(thread) {
      return unanswered(thread).map(({ interruptId, runId }) => ({ interruptId, runId }));
    },
    async countOpen(account) {
      const isOpen = ({ status }: MemoryRun) => status === "running" || status === "queued";
      return [...runs.values()].filter((run) => run.thread.account === account && isOpen(run)).length;
    },
    async pruneEnded(olderThanMs, limit) {
      const now = clock.now();
      for (const [key, expiresAt] of database.stops) if (expiresAt < now) database.stops.delete(key);
      const past = [...runs.values()]
        .filter(({ endedAt, runId, thread }) => {
          if (endedAt === undefined || endedAt >= now - olderThanMs) return false;
          return !unanswered(thread).some((interrupt) => interrupt.runId === runId);
        })
        .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))
        .slice(0, limit);
      for (const run of past) {
        runs.delete(run.runId);
        const known = interruptsOf(run.thread);
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
      for (const key of database.stops.keys()) {
        const [owner, whose] = key.split("\u0000");
        if (owner === account && (subject === undefined || whose === subject)) database.stops.delete(key);
      }
      const stopped = await Promise.all([...threads.values()].map(deleteThread));
      return stopped.filter((runId) => runId !== undefined);
    },
    onStop(listener) {
      database.stopListeners.add(listener);
      return () => void database.stopListeners.delete(listener);
    },
    async assertHeld(fence) {
      const run = held(fence);
      if (run && database.threads.get(threadKey(run.thread))?.fence === fence.token) return;
      throw new ThroughlineError("conflict", "Another instance drives this run by now.");
    },
  };
}

function expiryOf({ status, leaseUntil }: MemoryRun): number {
  return status === "running" && leaseUntil !== undefined ? leaseUntil : Number.POSITIVE_INFINITY;
}

function toRecord(run: MemoryRun): RunRecord {
  const { token: _, preempts: __, ...record } = run;
  return structuredClone(record);
}
