import { randomBytes } from "node:crypto";
import {
  type Clock,
  type Envelope,
  isStoreOutage,
  type LogEntry,
  ThroughlineError,
} from "@throughline/ai-core";
import type { LogStore, NewEntry, StoreAppend, StoreAppendResult, StoreFinish } from "../port/log-store.js";
import type { AppendResult } from "../port/thread-log.js";
import { type ThreadRef, threadKey } from "../port/thread-ref.js";
import { encodeEnvelope } from "./stored-envelope.js";
import { waitForStore } from "./wait-for-store.js";

/** Bounds of one commit, so that a flood cannot make a statement the store chokes on. What exceeds them joins the next. */
const MAX_THREADS = 512;
const MAX_BYTES = 4 * 1024 * 1024;

type Committed = Extract<StoreAppendResult, { ok: true }>;

export interface GroupCommitOptions {
  readonly store: LogStore;
  readonly clock: Clock;
  /** Ends every wait for a store that is away: what is not committed by then fails with a `StoreOutage`. */
  readonly signal: AbortSignal;
  /** Called once per thread and commit, before its appends resolve. */
  readonly onCommitted: (thread: ThreadRef, entries: readonly LogEntry[], result: Committed) => void;
  /**
   * An attempt whose answer was lost was followed by a refusal, or by none that was answered: the entries may be in the log,
   * and our own watchers, who are not woken for our commits, must look.
   */
  readonly onUnsure: (thread: ThreadRef) => void;
}

export interface GroupAppendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly finish?: StoreFinish | undefined;
}

export interface GroupCommit {
  /** An append that is aborted before its commit is sent is dropped, and rejects with the signal's reason. */
  append(
    thread: ThreadRef,
    token: bigint,
    envelopes: readonly Envelope[],
    options?: GroupAppendOptions,
  ): Promise<AppendResult>;
  /** Resolves when nothing is in flight or waiting. */
  settled(): Promise<void>;
}

interface Pending {
  readonly envelopes: readonly Envelope[];
  readonly entries: readonly NewEntry[];
  readonly bytes: number;
  readonly finish: StoreFinish | undefined;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends of one thread under one token that are committed together. */
interface Unit {
  readonly key: string;
  readonly thread: ThreadRef;
  readonly token: bigint;
  readonly appendId: string;
  appends: Pending[];
  bytes: number;
  /** From when its commit is sent, its appends can no longer be dropped. */
  readonly onTaken: (() => void)[];
}

/**
 * R21: commit at once if none is in flight, else join the next; no timer. Costs one encoding per entry and one store call
 * per commit, however many threads and appends it carries; under load commits grow instead of queueing. A store that is away
 * is waited for.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { store, clock, signal: closed, onCommitted, onUnsure } = options;
  const queue: Unit[] = [];
  /** The last waiting unit of each thread, which later appends may still join. */
  const joinable = new Map<string, Unit>();
  let pumping: Promise<void> | undefined;
  /** Ids of commits are a random name and a count: a random number for each costs more than encoding its entries. */
  const writer = randomBytes(9).toString("base64url");
  let units = 0;

  function append(
    thread: ThreadRef,
    token: bigint,
    envelopes: readonly Envelope[],
    { signal, finish }: GroupAppendOptions = {},
  ): Promise<AppendResult> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const entries = envelopes.map(encodeEnvelope);
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    const unit = unitFor(thread, token, bytes);
    // Nothing joins a unit behind its finish.
    if (finish) joinable.delete(unit.key);
    const appended = new Promise<AppendResult>((resolve, reject) => {
      const pending: Pending = { envelopes: [...envelopes], entries, bytes, finish, resolve, reject };
      unit.appends.push(pending);
      unit.bytes += bytes;
      if (signal) dropOnAbort(unit, pending, signal);
    });
    // The pump's first step waits for a microtask, so that all appends of one turn share a commit.
    pumping ??= pump();
    return appended;
  }

  function dropOnAbort(unit: Unit, pending: Pending, signal: AbortSignal): void {
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

  function unitFor(thread: ThreadRef, token: bigint, bytes: number): Unit {
    const key = threadKey(thread);
    const waiting = joinable.get(key);
    if (waiting && waiting.token === token && waiting.bytes + bytes <= MAX_BYTES) return waiting;
    units += 1;
    const appendId = `${writer}.${units.toString(36).padStart(9, "0")}`;
    const unit: Unit = { key, thread, token, appendId, appends: [], bytes: 0, onTaken: [] };
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
      for (const tell of unit.onTaken) tell();
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
    const isAway = isStoreOutage(written.error);
    if (group.length > 1 && !isAway) {
      for (const unit of group) await commit([unit]);
      return;
    }
    const failure = isAway
      ? written.error
      : new ThroughlineError("internal", "The log could not be written.", { cause: written.error });
    for (const unit of group) {
      onUnsure(unit.thread);
      for (const { reject } of unit.appends) reject(failure);
    }
  }

  /** Safe to repeat: the units' ids let the store recognise a commit whose answer was lost. */
  async function write(
    group: readonly Unit[],
  ): Promise<{ results: readonly StoreAppendResult[]; attempts: number } | { error: unknown }> {
    const batch: StoreAppend[] = group.map(({ thread, token, appendId, appends }) => ({
      thread,
      token,
      appendId,
      entries: appends.flatMap(({ entries }) => entries),
      finish: appends.at(-1)?.finish,
    }));
    let attempts = 0;
    try {
      const results = await waitForStore({ clock, signal: closed }, () => {
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
      for (const { resolve } of unit.appends) resolve(refused);
      return;
    }
    const { epoch, first } = result;
    const envelopes = unit.appends.flatMap((append) => append.envelopes);
    const entries = envelopes.map((envelope, index) => ({ epoch, seq: first + index, envelope }));
    onCommitted(unit.thread, entries, result);
    let from = first;
    for (const { envelopes: own, finish, resolve } of unit.appends) {
      const last = from + own.length - 1;
      resolve({ ok: true, epoch, first: from, last, ...(finish && { next: result.next }) });
      from = last + 1;
    }
  }

  return {
    append,
    async settled() {
      while (pumping) await pumping;
    },
  };
}
