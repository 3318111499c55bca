import { randomBytes } from "node:crypto";
import type { Envelope } from "@throughline/ai-core";
import { type ThreadRef, threadKey } from "../thread-ref.js";
import { type CommitOptions, type CommitUnit, commitUnits, type PendingAppend, retryUnit } from "./commit.js";
import { encodeEnvelope } from "./entries.js";
import type { StoreFinish } from "./log-store.js";
import type { AppendResult } from "./thread-log.js";

/** Bounds of one commit, so that a flood cannot make a statement the store chokes on. What exceeds them joins the next. */
const MAX_THREADS = 512;
const MAX_BYTES = 4 * 1024 * 1024;
/** Digits of a count in base 36, so that ids of one writer compare as text in the order of their commits. */
const COUNT_DIGITS = 9;

export type GroupCommitOptions = CommitOptions;

export interface GroupCommit {
  /** An append that is aborted before its commit is sent is dropped, and rejects with the signal's reason. */
  append(
    thread: ThreadRef,
    token: bigint,
    envelopes: readonly Envelope[],
    signal?: AbortSignal,
    finish?: StoreFinish,
  ): Promise<AppendResult>;
  /** Resolves when nothing is in flight or waiting. */
  drained(): Promise<void>;
}

interface WaitingUnit extends CommitUnit {
  readonly key: string;
  appends: PendingAppend[];
  bytes: number;
  /** Called when the commit of the unit is about to be sent: from then on its appends can no longer be dropped. */
  readonly onTaken: (() => void)[];
}

/** Commits one after the other. */
interface Pump {
  done: Promise<void>;
  /** When its present commit began. */
  startedAt: number;
}

/**
 * R21: commit at once if none is in flight, else join the next; no timer. A store that is slow to answer is sent several
 * commits at once, a thread in one of them at a time. Costs one encoding per entry and one store call per commit, however many
 * threads and appends it carries; under load commits grow instead of queueing. A thread that can't be written while others can
 * is parked: it is tried again alone, its later appends wait behind it, and all other threads go on.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { store, clock } = options;
  const queue: WaitingUnit[] = [];
  /** The last waiting unit of each thread, which later appends may still join. */
  const joinable = new Map<string, WaitingUnit>();
  /** Threads with a commit in flight, or parked: what they append next waits. */
  const busy = new Set<string>();
  const pumps = new Set<Pump>();
  const aside = new Set<Promise<void>>();
  const pace = createCommitPace(store.committers);
  const inTurn = createTurns();
  /** Pumps that have not taken their first commit yet, which share what waits. */
  let starting = 0;
  /** Ids of commits are a random name and a count: a random number for each costs more than encoding its entries. */
  const writer = randomBytes(9).toString("base64url");
  let units = 0;

  function append(
    thread: ThreadRef,
    token: bigint,
    envelopes: readonly Envelope[],
    signal?: AbortSignal,
    finish?: StoreFinish,
  ): Promise<AppendResult> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const entries = envelopes.map(encodeEnvelope);
    let bytes = 0;
    for (const entry of entries) bytes += entry.bytes;
    const unit = unitFor(thread, token, bytes);
    // Nothing joins a unit behind its finish.
    if (finish) joinable.delete(unit.key);
    const appended = new Promise<AppendResult>((resolve, reject) => {
      const pending: PendingAppend = { envelopes: [...envelopes], entries, bytes, finish, resolve, reject };
      unit.appends.push(pending);
      unit.bytes += bytes;
      if (signal) dropOnAbort(unit, pending, signal);
    });
    startPump();
    return appended;
  }

  function dropOnAbort(unit: WaitingUnit, pending: PendingAppend, signal: AbortSignal): void {
    const drop = () => {
      unit.appends = unit.appends.filter((each) => each !== pending);
      unit.bytes -= pending.bytes;
      if (unit.appends.length === 0) {
        queue.splice(queue.indexOf(unit), 1);
        if (joinable.get(unit.key) === unit) joinable.delete(unit.key);
      }
      pending.reject(signal.reason);
    };
    signal.addEventListener("abort", drop, { once: true });
    unit.onTaken.push(() => signal.removeEventListener("abort", drop));
  }

  function unitFor(thread: ThreadRef, token: bigint, bytes: number): WaitingUnit {
    const key = threadKey(thread);
    const waiting = joinable.get(key);
    if (waiting && waiting.token === token && waiting.bytes + bytes <= MAX_BYTES) return waiting;
    units += 1;
    const appendId = `${writer}.${units.toString(36).padStart(COUNT_DIGITS, "0")}`;
    const unit: WaitingUnit = { key, thread, token, appendId, appends: [], bytes: 0, onTaken: [] };
    queue.push(unit);
    joinable.set(key, unit);
    return unit;
  }

  function startPump(): void {
    // Pumps that began in this turn share all that this turn appends.
    if (starting > 0 && starting >= queue.length) return;
    if (pumps.size > 0 && !pace.mayBegin(pumps, clock.now(), queue.length)) return;
    const pump: Pump = { done: Promise.resolve(), startedAt: clock.now() };
    pumps.add(pump);
    starting += 1;
    pump.done = run(pump);
  }

  async function run(pump: Pump): Promise<void> {
    // All appends of one turn share a commit.
    await Promise.resolve();
    let group = takeGroup(Math.ceil(queue.length / starting));
    starting -= 1;
    while (group.length > 0) {
      pump.startedAt = clock.now();
      const left = await commitUnits(options, group);
      pace.took(clock.now() - pump.startedAt, group.length);
      for (const { key } of group) busy.delete(key);
      for (const unit of left) parkUnit(unit);
      group = takeGroup(MAX_THREADS);
    }
    // In the same turn as the last read of the queue, else an append in between would wait for ever.
    pumps.delete(pump);
  }

  /** First come, first served, but one unit per thread: what the store compares and counts is per thread. */
  function takeGroup(share: number): WaitingUnit[] {
    const taken: WaitingUnit[] = [];
    const left: WaitingUnit[] = [];
    const most = Math.min(share, MAX_THREADS);
    let bytes = 0;
    for (const unit of queue) {
      const fits = taken.length === 0 || (taken.length < most && bytes + unit.bytes <= MAX_BYTES);
      if (!fits || busy.has(unit.key)) {
        left.push(unit);
        continue;
      }
      busy.add(unit.key);
      taken.push(unit);
      for (const notify of unit.onTaken) notify();
      bytes += unit.bytes;
      if (joinable.get(unit.key) === unit) joinable.delete(unit.key);
    }
    queue.splice(0, queue.length, ...left);
    return taken;
  }

  function parkUnit(unit: WaitingUnit): void {
    busy.add(unit.key);
    const retried = retryUnit(options, unit, inTurn).then(() => {
      aside.delete(retried);
      busy.delete(unit.key);
      // Starts the appends that waited behind it.
      if (queue.length > 0) startPump();
    });
    aside.add(retried);
  }

  return {
    append,
    async drained() {
      while (pumps.size > 0 || aside.size > 0) {
        await Promise.all([...[...pumps].map(({ done }) => done), ...aside]);
      }
    },
  };
}

/** Runs one piece of work at a time, in the order given. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine;
    return mine;
  };
}
/** A commit that takes longer than its work and this mostly waits, for a disk or a network. */
const SLOW_MS = 2;
/** Rough cost of an append of one thread, for the store and us. */
const WORK_MS_PER_THREAD = 0.02;
/** A commit that takes longer than this does not make others wait. */
const STUCK_MS = 50;
/** So many threads are worth a second commit: what the store does for one half, we prepare meanwhile of the other. */
const WORTH_TWO = 96;
/** How many commits in a row must be slow. Where it is a CPU that is short, one of so many is quick. */
const WINDOW = 128;

export interface CommitPace {
  /** Whether another commit may begin next to these, for so many threads that wait. */
  mayBegin(underWay: Iterable<{ readonly startedAt: number }>, now: number, waiting: number): boolean;
  took(ms: number, threads: number): void;
}

/**
 * Decides how many commits are sent at once. A store that responds at once is best served one commit at a time, each with all
 * that came meanwhile: several small ones cost it and us up to twice the work. A store that is slow to respond, whatever a commit
 * carries, is sent several at once, so that an append does not wait for a commit that it is not part of.
 */
function createCommitPace(committers: number): CommitPace {
  /** The shortest wait of the last whole window, and of the present one. */
  let before = 0;
  let shortest = Number.POSITIVE_INFINITY;
  let count = 0;

  return {
    mayBegin(underWay, now, waiting) {
      let sent = 0;
      let recentlySent = 0;
      for (const { startedAt } of underWay) {
        sent += 1;
        if (now - startedAt < STUCK_MS) recentlySent += 1;
      }
      const isSlow = Math.min(before, shortest) >= SLOW_MS;
      const isWorthTwo = sent === 1 && waiting >= WORTH_TWO;
      return sent < committers && (recentlySent === 0 || isSlow || isWorthTwo);
    },
    took(ms, threads) {
      shortest = Math.min(shortest, ms - threads * WORK_MS_PER_THREAD);
      count += 1;
      if (count < WINDOW) return;
      before = shortest;
      shortest = Number.POSITIVE_INFINITY;
      count = 0;
    },
  };
}
