import { type Envelope, isStoreOutage, StoreOutage, ThroughlineError } from "@throughline/ai-core";
import type { NewEntry, StoreAppend, StoreAppendResult, StoreFinish } from "../port/log-store.js";
import type { AppendResult } from "../port/thread-log.js";
import type { ThreadRef } from "../port/thread-ref.js";
import type { GroupCommitOptions } from "./group-commit.js";
import { encodeEnvelope } from "./stored-envelope.js";
import { waitForStore } from "./wait-for-store.js";

/** Bounds of one commit, so that a flood cannot make a statement the store chokes on. What exceeds them joins the next. */
const MAX_THREADS = 512;
const MAX_BYTES = 4 * 1024 * 1024;
/** Attempts after which it may be what is written, and not the store, that keeps a commit from being answered. */
const SUSPICIOUS_ATTEMPTS = 3;

export interface CommitLaneOptions extends GroupCommitOptions {
  /** Ids of one writer, in increasing order. */
  readonly nextId: () => string;
  /** Shared by all lanes: what is set aside is tried again one at a time. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface LaneAppend {
  readonly key: string;
  readonly thread: ThreadRef;
  readonly token: bigint;
  readonly envelopes: readonly Envelope[];
  readonly signal: AbortSignal | undefined;
  readonly finish: StoreFinish | undefined;
}

export interface CommitLane {
  append(append: LaneAppend): Promise<AppendResult>;
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

type Written =
  | { readonly kind: "answered"; readonly results: readonly StoreAppendResult[]; readonly attempts: number }
  | { readonly kind: "failed"; readonly error: unknown }
  /** The store is there and takes others, or there is only one to blame. */
  | { readonly kind: "suspicious" };

/**
 * R21: commit at once if none is in flight, else join the next; no timer. Costs one encoding per entry and one store call
 * per commit, however many threads and appends it carries; under load commits grow instead of queueing. A store that is away
 * is waited for. A thread that can't be written, because another session holds its row or the store never answers to what is
 * written, is set aside: it is tried again alone, its later appends wait behind it, and all other threads go on.
 */
export function createCommitLane(options: CommitLaneOptions): CommitLane {
  const { store, clock, signal: closed, onCommitted, onUnsure, nextId, inTurn } = options;
  const queue: Unit[] = [];
  /** The last waiting unit of each thread, which later appends may still join. */
  const joinable = new Map<string, Unit>();
  /** By thread: the unit that is tried again alone. */
  const aside = new Map<string, Promise<void>>();
  let pumping: Promise<void> | undefined;

  function append({ key, thread, token, envelopes, signal, finish }: LaneAppend): Promise<AppendResult> {
    const entries = envelopes.map(encodeEnvelope);
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    const unit = unitFor(key, thread, token, bytes);
    // Nothing joins a unit behind its finish.
    if (finish) joinable.delete(key);
    const appended = new Promise<AppendResult>((resolve, reject) => {
      const pending: Pending = { envelopes: [...envelopes], entries, bytes, finish, resolve, reject };
      unit.appends.push(pending);
      unit.bytes += bytes;
      if (signal) dropOnAbort(unit, pending, signal);
    });
    pumping ??= pump();
    return appended;
  }

  function unitFor(key: string, thread: ThreadRef, token: bigint, bytes: number): Unit {
    const waiting = joinable.get(key);
    if (waiting && waiting.token === token && waiting.bytes + bytes <= MAX_BYTES) return waiting;
    const unit: Unit = { key, thread, token, appendId: nextId(), appends: [], bytes: 0, onTaken: [] };
    queue.push(unit);
    joinable.set(key, unit);
    return unit;
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

  async function pump(): Promise<void> {
    // All appends of one turn share a commit.
    await Promise.resolve();
    for (let group = takeGroup(); group.length > 0; group = takeGroup()) await commit(group);
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
      if (!fits || taken.has(unit.key) || aside.has(unit.key)) {
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
    switch (written.kind) {
      case "answered":
        group.forEach((unit, index) => {
          settle(unit, written.results[index], written.attempts > 1);
        });
        return;
      case "failed":
        // One append that the store cannot hold must not take the others down with it.
        if (group.length > 1 && !isStoreOutage(written.error)) await commitOneByOne(group);
        else for (const unit of group) fail(unit, written.error);
        return;
      case "suspicious":
        await commitOneByOne(group);
    }
  }

  /** Safe to repeat: the units' ids let the store recognise a commit whose answer was lost. */
  async function write(group: readonly Unit[]): Promise<Written> {
    const batch = group.map(toStoreAppend);
    let attempts = 0;
    const attempt = async (): Promise<Written> => {
      attempts += 1;
      try {
        return { kind: "answered", results: await store.commit(batch), attempts };
      } catch (error) {
        if (!isStoreOutage(error) || attempts < SUSPICIOUS_ATTEMPTS) throw error;
        // Another one each time, because it may be the one that the store does not answer to.
        const probe = batch.length > 1 ? batch[attempts % batch.length] : undefined;
        if (probe) await store.commit([probe]);
        return { kind: "suspicious" };
      }
    };
    try {
      return await waitForStore({ clock, signal: closed }, attempt);
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  async function commitOneByOne(group: readonly Unit[]): Promise<void> {
    for (const unit of group) {
      const attempt = () => store.commit([toStoreAppend(unit)]).catch(onlyOutages);
      try {
        const results = await waitForStore({ clock, signal: closed }, attempt);
        if (results) settle(unit, results[0], true);
        else setAside(unit);
      } catch (error) {
        fail(unit, error);
      }
    }
  }

  function setAside(unit: Unit): void {
    aside.set(unit.key, retryAlone(unit));
  }

  async function retryAlone(unit: Unit): Promise<void> {
    const attempt = async () => {
      const [result] = await store.commit([toStoreAppend(unit)]);
      if (isLocked(result)) throw new StoreOutage(new Error("Another session holds the thread."));
      return result;
    };
    try {
      settle(unit, await waitForStore({ clock, signal: closed }, () => inTurn(attempt)), true);
    } catch (error) {
      fail(unit, error);
    }
    aside.delete(unit.key);
    // What waited behind it.
    pumping ??= pump();
  }

  function settle(unit: Unit, result: StoreAppendResult | undefined, triedAgain: boolean): void {
    if (isLocked(result)) {
      setAside(unit);
      return;
    }
    if (!result?.ok) {
      const refused = result ?? { ok: false, reason: "fenced" };
      if (triedAgain) onUnsure(unit.thread);
      for (const { resolve } of unit.appends) resolve(refused);
      return;
    }
    const { epoch, first } = result;
    const envelopes = unit.appends.flatMap((each) => each.envelopes);
    const entries = envelopes.map((envelope, index) => ({ epoch, seq: first + index, envelope }));
    onCommitted(unit.thread, entries, result);
    let from = first;
    for (const { envelopes: own, finish, resolve } of unit.appends) {
      const last = from + own.length - 1;
      resolve({ ok: true, epoch, first: from, last, ...(finish && { next: result.next }) });
      from = last + 1;
    }
  }

  function fail(unit: Unit, error: unknown): void {
    const failure = isStoreOutage(error)
      ? error
      : new ThroughlineError("internal", "The log could not be written.", { cause: error });
    onUnsure(unit.thread);
    for (const { reject } of unit.appends) reject(failure);
  }

  return {
    append,
    async settled() {
      while (pumping || aside.size > 0) await Promise.all([pumping, ...aside.values()]);
    },
  };
}

/** Ends a wait for the store at its first outage. */
function onlyOutages(error: unknown): undefined {
  if (!isStoreOutage(error)) throw error;
}

type LockedResult = Extract<StoreAppendResult, { reason: "locked" }>;

function isLocked(result: StoreAppendResult | undefined): result is LockedResult {
  return result?.ok === false && result.reason === "locked";
}

function toStoreAppend({ thread, token, appendId, appends }: Unit): StoreAppend {
  return {
    thread,
    token,
    appendId,
    entries: appends.flatMap(({ entries }) => entries),
    finish: appends.at(-1)?.finish,
  };
}
