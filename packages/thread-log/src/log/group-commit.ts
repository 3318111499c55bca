import { randomBytes } from "node:crypto";
import { type Clock, type Envelope, type LogEntry, ThroughlineError } from "@throughline/ai-core";
import type { LogStore, NewEntry, StoreAppend, StoreAppendResult } from "../port/log-store.js";
import type { AppendResult } from "../port/thread-log.js";
import { type ThreadRef, threadKey } from "../port/thread-ref.js";
import { retryTransient } from "./retry-transient.js";
import { encodeEnvelope } from "./stored-envelope.js";

/** Bounds of one commit, so that a flood cannot make a statement the store chokes on. What exceeds them joins the next. */
const MAX_THREADS = 512;
const MAX_BYTES = 4 * 1024 * 1024;

type Committed = Extract<StoreAppendResult, { ok: true }>;

export interface GroupCommitOptions {
  readonly store: LogStore;
  readonly clock: Clock;
  readonly giveUpAfterMs: number;
  /** Called once per thread and commit, before its appends resolve. */
  readonly onCommitted: (thread: ThreadRef, entries: readonly LogEntry[], result: Committed) => void;
  /**
   * An attempt whose answer was lost was followed by a refusal, or by none that was answered: the entries may be in the log,
   * and our own watchers, whom nobody else wakes for our commits, must look.
   */
  readonly onUnsure: (thread: ThreadRef) => void;
}

export interface GroupCommit {
  append(thread: ThreadRef, token: bigint, envelopes: readonly Envelope[]): Promise<AppendResult>;
  /** Resolves when nothing is in flight or waiting. */
  settled(): Promise<void>;
}

interface Waiter {
  readonly count: number;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends of one thread under one token that are committed together. */
interface Unit {
  readonly key: string;
  readonly thread: ThreadRef;
  readonly token: bigint;
  readonly appendId: string;
  readonly envelopes: Envelope[];
  readonly entries: NewEntry[];
  readonly waiters: Waiter[];
  bytes: number;
}

/**
 * R21: commit at once if none is in flight, else join the next; no timer. Costs one encoding per entry and one store call
 * per commit, however many threads and appends it carries; under load commits grow instead of queueing.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { store, clock, giveUpAfterMs, onCommitted, onUnsure } = options;
  const queue: Unit[] = [];
  /** The last waiting unit of each thread, which later appends may still join. */
  const joinable = new Map<string, Unit>();
  let pumping: Promise<void> | undefined;

  function append(thread: ThreadRef, token: bigint, envelopes: readonly Envelope[]): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      const entries = envelopes.map(encodeEnvelope);
      const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
      const unit = unitFor(thread, token, bytes);
      for (const envelope of envelopes) unit.envelopes.push(envelope);
      for (const entry of entries) unit.entries.push(entry);
      unit.bytes += bytes;
      unit.waiters.push({ count: envelopes.length, resolve, reject });
      // The pump's first step waits for a microtask, so that all appends of one turn share a commit.
      pumping ??= pump();
    });
  }

  function unitFor(thread: ThreadRef, token: bigint, bytes: number): Unit {
    const key = threadKey(thread);
    const waiting = joinable.get(key);
    if (waiting && waiting.token === token && waiting.bytes + bytes <= MAX_BYTES) return waiting;
    const appendId = randomBytes(9).toString("base64url");
    const unit: Unit = { key, thread, token, appendId, envelopes: [], entries: [], waiters: [], bytes: 0 };
    queue.push(unit);
    joinable.set(key, unit);
    return unit;
  }

  async function pump(): Promise<void> {
    await Promise.resolve();
    while (queue.length > 0) await commit(takeGroup());
    // In the same turn as the last look at the queue, else an append in between would wait for ever.
    pumping = undefined;
  }

  /** First come, first served, but one unit per thread: what the store compares and counts is per thread. */
  function takeGroup(): Unit[] {
    const taken = new Map<string, Unit>();
    const left: Unit[] = [];
    let bytes = 0;
    for (const unit of queue) {
      const fits = taken.size === 0 || (taken.size < MAX_THREADS && bytes + unit.bytes <= MAX_BYTES);
      if (!fits || taken.has(unit.key)) {
        left.push(unit);
        continue;
      }
      taken.set(unit.key, unit);
      bytes += unit.bytes;
      if (joinable.get(unit.key) === unit) joinable.delete(unit.key);
    }
    queue.splice(0, queue.length, ...left);
    return [...taken.values()];
  }

  async function commit(group: readonly Unit[]): Promise<void> {
    const written = await write(group);
    if ("results" in written) {
      group.forEach((unit, index) => {
        settle(unit, written.results[index], written.attempts > 1);
      });
      return;
    }
    // One append that the store cannot hold must not take the others down with it.
    if (group.length > 1 && !store.isTransient(written.error)) {
      for (const unit of group) await commit([unit]);
      return;
    }
    const failure = new ThroughlineError("internal", "The log could not be written.", {
      cause: written.error,
    });
    for (const unit of group) {
      onUnsure(unit.thread);
      for (const waiter of unit.waiters) waiter.reject(failure);
    }
  }

  /** Safe to repeat: the units' ids let the store recognise a commit whose answer was lost. */
  async function write(
    group: readonly Unit[],
  ): Promise<{ results: readonly StoreAppendResult[]; attempts: number } | { error: unknown }> {
    const batch: StoreAppend[] = group.map(({ thread, token, appendId, entries }) => ({
      thread,
      token,
      appendId,
      entries,
    }));
    const isTransient = (error: unknown) => store.isTransient(error);
    let attempts = 0;
    try {
      const results = await retryTransient({ clock, isTransient, giveUpAfterMs }, () => {
        attempts += 1;
        return store.commit(batch);
      });
      return { results, attempts };
    } catch (error) {
      return { error };
    }
  }

  function settle(unit: Unit, result: StoreAppendResult | undefined, triedAgain: boolean): void {
    if (!result?.ok) {
      const refused = result ?? { ok: false, reason: "fenced" };
      if (triedAgain) onUnsure(unit.thread);
      for (const waiter of unit.waiters) waiter.resolve(refused);
      return;
    }
    const { epoch, first } = result;
    const entries = unit.envelopes.map((envelope, index) => ({ epoch, seq: first + index, envelope }));
    onCommitted(unit.thread, entries, result);
    let next = first;
    for (const { count, resolve } of unit.waiters) {
      resolve({ ok: true, epoch, first: next, last: next + count - 1 });
      next += count;
    }
  }

  return {
    append,
    async settled() {
      while (pumping) await pumping;
    },
  };
}
