import type { ReadRequest, StartLook, StartResult, StartRun } from "../registry/run-registry.js";
import {
  answerIds,
  BUSY_RETRY_MS,
  canonicalJson,
  checkAlias,
  decideStart,
  retriedStart,
  type StartDecision,
} from "../registry/start-decision.js";
import { storableTitle } from "../thread-directory.js";
import { beingDeleted, type ThreadRef, threadKey } from "../thread-ref.js";
import { ensureThread, isScopeClosed, type MemoryDatabase, type MemoryRun } from "./database.js";
import {
  askToStop,
  bumpRevision,
  endRun,
  interruptsOf,
  leaseRun,
  namedRun,
  queuedOf,
  runningOf,
  setAsideQuestions,
  toRecord,
} from "./runs.js";

export function stopKey(thread: ThreadRef, name: string): string {
  return `${threadKey(thread)}\u0000${name}`;
}

export function countOpen({ runs }: MemoryDatabase, account: string): number {
  const isOpen = ({ status }: MemoryRun) => status === "running" || status === "queued";
  return [...runs.values()].filter((run) => run.thread.account === account && isOpen(run)).length;
}

export function readThreadRuns(database: MemoryDatabase, request: ReadRequest): StartLook {
  const { thread, runId, alias, account = thread.account } = request;
  const row = database.threads.get(threadKey(thread));
  const names = [runId, ...(alias === undefined ? [] : [alias])];
  const same =
    namedRun(database, thread, { runId }) ??
    (alias === undefined ? undefined : namedRun(database, thread, { alias }));
  const waiting = queuedOf(database, thread);
  const now = database.clock.now();
  return {
    runs: {
      same: same?.runId,
      stopped: names.some((name) => (database.stops.get(stopKey(thread, name)) ?? 0) > now),
      running: runningOf(database, thread)?.runId,
      queued: waiting.map((run) => run.runId),
      preempting: waiting.filter(({ preempts }) => preempts).length,
      interrupts: [...interruptsOf(database, thread).values()]
        .filter(
          ({ interruptId, answeredBy }) => answeredBy === undefined || request.answers.includes(interruptId),
        )
        .map(({ interruptId, answeredBy, answer }) => ({ interruptId, answeredBy, answer })),
    },
    same: same && toRecord(same),
    revision: row?.revision ?? 0,
    head: row && { epoch: row.epoch, seq: row.head },
    openRuns: countOpen(database, account),
    isClosed: isScopeClosed(database, thread),
    model: database.listings.get(threadKey(thread))?.model,
  };
}

export function startRun(
  database: MemoryDatabase,
  request: StartRun,
  given: StartLook | undefined,
): StartResult {
  checkAlias(request.alias);
  const { thread } = request;
  const { look, decision } = decide(database, request, given);
  switch (decision.kind) {
    case "attach": {
      if (look.same?.runId === decision.runId) {
        return retriedStart(request, look) ?? { kind: "attached", run: look.same };
      }
      const run = database.runs.get(decision.runId);
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
      const run = insert(database, request);
      endRun(database, run, "cancelled");
      return { kind: "cancelled", run: toRecord(run) };
    }
    case "queue": {
      const run = insert(database, request);
      consume(database, run);
      listThread(database, request);
      if (decision.preempted !== undefined) askToStop(database, decision.preempted);
      return { ...decision, kind: "queued", run: toRecord(run) };
    }
    case "run": {
      ensureThread(database, thread).stateKey = request.stateKey;
      const run = insert(database, request);
      consume(database, run);
      if (run.preempts && run.start?.kind === "input") setAsideQuestions(database, thread);
      listThread(database, request);
      return { kind: "started", ...leaseRun(database, run, request) };
    }
  }
}

/** Decides by the state given, if the decision needs no write or the state still holds; else by the current state. */
function decide(
  database: MemoryDatabase,
  request: StartRun,
  given: StartLook | undefined,
): { readonly look: StartLook; readonly decision: StartDecision } {
  const revision = database.threads.get(threadKey(request.thread))?.revision ?? 0;
  const look = given ?? readThreadRuns(database, { ...request, answers: answerIds(request.start) });
  if (look.isClosed) throw beingDeleted();
  const decision = decideStart(look.runs, request);
  const writes = decision.kind === "run" || decision.kind === "queue" || decision.kind === "cancel";
  if (writes && isScopeClosed(database, request.thread)) throw beingDeleted();
  return writes && look.revision !== revision ? decide(database, request, undefined) : { look, decision };
}

function insert(database: MemoryDatabase, request: StartRun): MemoryRun {
  const { thread, runId, alias, graphId, origin, upstreamRunId } = request;
  const run: MemoryRun = {
    thread,
    runId,
    alias,
    graphId,
    origin,
    request: structuredClone(request.request),
    createdAt: database.clock.now(),
    preempts: request.strategy === "preempt",
    status: "queued",
    start: structuredClone(request.start),
    attempt: 0,
    crashes: 0,
    presumedDead: undefined,
    owner: undefined,
    token: 0n,
    leaseUntil: undefined,
    upstreamRunId,
    stopRequested: false,
    endedAt: undefined,
  };
  database.runs.set(runId, run);
  bumpRevision(database, thread);
  return run;
}

/** R28: in the turn that makes the run, so that an answer is used once or not at all. */
function consume(database: MemoryDatabase, run: MemoryRun): void {
  if (run.start?.kind !== "resume") return;
  for (const [interruptId, answer] of Object.entries(run.start.answers)) {
    const interrupt = interruptsOf(database, run.thread).get(interruptId);
    if (!interrupt) continue;
    interrupt.answeredBy = run.runId;
    interrupt.answer = canonicalJson(answer);
  }
}

/** Adds the thread to the directory. It is listed as running once the lease is acquired. */
function listThread(database: MemoryDatabase, { thread, graphId, runId, listing }: StartRun): void {
  const key = threadKey(thread);
  const derivedTitle = storableTitle(listing.derivedTitle);
  const listed = database.listings.get(key);
  if (listed) {
    listed.derivedTitle ??= derivedTitle;
    return;
  }
  const now = database.clock.now();
  database.listings.set(key, {
    thread,
    graphId,
    threadName: listing.threadName,
    createdAt: now,
    title: undefined,
    derivedTitle,
    isArchived: false,
    forkedFrom: undefined,
    model: undefined,
    status: "idle",
    lastRunId: runId,
    token: 0n,
    lastActivityAt: now,
  });
}
