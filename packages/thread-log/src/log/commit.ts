import {
  type Clock,
  type Envelope,
  isStoreOutage,
  type LogEntry,
  retryStore,
  StoreOutage,
  ThroughlineError,
} from "@throughline/ai-core";
import type { ThreadRef } from "../thread-ref.js";
import type { LogStore, NewEntry, StoreAppend, StoreAppendResult, StoreFinish } from "./log-store.js";
import type { AppendResult } from "./thread-log.js";

/** Attempts after which the content of a commit, and not the store, may be why the commit gets no response. */
const SUSPICIOUS_ATTEMPTS = 3;

export interface CommitOptions {
  readonly store: LogStore;
  readonly clock: Clock;
  /** Ends every wait for a store that is away: what is not committed by then fails with a `StoreOutage`. */
  readonly signal: AbortSignal;
  /** Called once per thread and commit, before its appends resolve. */
  readonly onCommitted: (
    thread: ThreadRef,
    entries: readonly LogEntry[],
    result: Extract<StoreAppendResult, { ok: true }>,
  ) => void;
  /**
   * Called when an attempt whose response was lost was followed by a refusal, or by no attempt that got a response: the entries
   * may be in the log, and our own subscribers, which are not woken for our commits, must read.
   */
  readonly onUncertain: (thread: ThreadRef) => void;
}

export interface PendingAppend {
  readonly envelopes: readonly Envelope[];
  readonly entries: readonly NewEntry[];
  readonly bytes: number;
  readonly finish: StoreFinish | undefined;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends of one thread under one token that are committed together. */
export interface CommitUnit {
  readonly thread: ThreadRef;
  readonly token: bigint;
  readonly appendId: string;
  readonly appends: readonly PendingAppend[];
}

type Written =
  | { readonly kind: "answered"; readonly results: readonly StoreAppendResult[]; readonly attempts: number }
  | { readonly kind: "failed"; readonly error: unknown }
  /** The store is there and takes others, or there is only one to blame. */
  | { readonly kind: "suspicious" };

/**
 * Commits units of different threads in one store call, and resolves their appends. A store that is away is waited for. Returns
 * the units that could not be written while others could, because another session holds their thread or the store never
 * responds to them: their appends are still pending, and `retryUnit` goes on with each.
 */
export async function commitUnits<Unit extends CommitUnit>(
  options: CommitOptions,
  units: readonly Unit[],
): Promise<readonly Unit[]> {
  const written = await write(options, units);
  switch (written.kind) {
    case "answered":
      return units.filter(
        (unit, index) => !resolveUnit(options, unit, written.results[index], written.attempts),
      );
    case "suspicious":
      return commitOneByOne(options, units);
    case "failed":
      // One append that the store cannot hold must not take the others down with it.
      if (units.length > 1 && !isStoreOutage(written.error)) return commitOneByOne(options, units);
      for (const unit of units) fail(options, unit, written.error);
      return [];
  }
}

/** Tries one unit alone until it is answered. `inTurn` limits how many of these are sent at once. */
export async function retryUnit(
  options: CommitOptions,
  unit: CommitUnit,
  inTurn: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { store, clock, signal } = options;
  const attempt = async () => {
    const [result] = await store.commit([toStoreAppend(unit)]);
    if (isLocked(result)) throw new StoreOutage(new Error("Another session holds the thread."));
    return result;
  };
  try {
    resolveUnit(options, unit, await waitForStore({ clock, signal }, () => inTurn(attempt)), 2);
  } catch (error) {
    fail(options, unit, error);
  }
}

/** Safe to repeat: the units' ids let the store recognise a commit whose answer was lost. */
async function write(
  { store, clock, signal }: CommitOptions,
  units: readonly CommitUnit[],
): Promise<Written> {
  const batch = units.map(toStoreAppend);
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
    return await waitForStore({ clock, signal }, attempt);
  } catch (error) {
    return { kind: "failed", error };
  }
}

async function commitOneByOne<Unit extends CommitUnit>(
  options: CommitOptions,
  units: readonly Unit[],
): Promise<readonly Unit[]> {
  const { store, clock, signal } = options;
  const left: Unit[] = [];
  for (const unit of units) {
    const attempt = () => store.commit([toStoreAppend(unit)]).catch(onlyOutages);
    try {
      const results = await waitForStore({ clock, signal }, attempt);
      if (!results || !resolveUnit(options, unit, results[0], 2)) left.push(unit);
    } catch (error) {
      fail(options, unit, error);
    }
  }
  return left;
}

/** Ends a wait for the store at its first outage. */
function onlyOutages(error: unknown): undefined {
  if (!isStoreOutage(error)) throw error;
}

/** Resolves the appends of a unit. `false` where the unit is to be tried again. */
function resolveUnit(
  { onCommitted, onUncertain }: CommitOptions,
  { thread, appends }: CommitUnit,
  result: StoreAppendResult | undefined,
  attempts: number,
): boolean {
  if (isLocked(result)) return false;
  if (!result?.ok) {
    const refused = result ?? { ok: false, reason: "fenced" };
    if (attempts > 1) onUncertain(thread);
    for (const { resolve } of appends) resolve(refused);
    return true;
  }
  const { epoch, first } = result;
  const entries: LogEntry[] = [];
  for (const { envelopes } of appends) {
    for (const envelope of envelopes) entries.push({ epoch, seq: first + entries.length, envelope });
  }
  onCommitted(thread, entries, result);
  let from = first;
  for (const { envelopes, finish, resolve } of appends) {
    const last = from + envelopes.length - 1;
    resolve(
      finish
        ? { ok: true, epoch, first: from, last, next: result.next }
        : { ok: true, epoch, first: from, last },
    );
    from = last + 1;
  }
  return true;
}

function fail({ onUncertain }: CommitOptions, { thread, appends }: CommitUnit, error: unknown): void {
  const failure = isStoreOutage(error)
    ? error
    : new ThroughlineError("internal", "The log could not be written.", { cause: error });
  onUncertain(thread);
  for (const { reject } of appends) reject(failure);
}

type LockedResult = Extract<StoreAppendResult, { reason: "locked" }>;

function isLocked(result: StoreAppendResult | undefined): result is LockedResult {
  return result?.ok === false && result.reason === "locked";
}

function toStoreAppend({ thread, token, appendId, appends }: CommitUnit): StoreAppend {
  const [only, ...more] = appends;
  const entries = only && more.length === 0 ? only.entries : appends.flatMap((append) => append.entries);
  return { thread, token, appendId, entries, finish: appends.at(-1)?.finish };
}

export interface WaitForStoreOptions {
  readonly clock: Clock;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
  /** Ends the wait after this time. Absent: waits however long the store is away. */
  readonly patienceMs?: number;
}

/**
 * `retryStore` for those who can't wait for an attempt to end: when the wait ends, so does this, with a `StoreOutage`. An
 * attempt under way is abandoned; its own deadline ends it.
 */
export async function waitForStore<Result>(
  { clock, signal, patienceMs }: WaitForStoreOptions,
  attempt: () => Promise<Result>,
): Promise<Result> {
  // Every commit passes here: a controller of its own would cost it as much as its encoding.
  if (patienceMs === undefined) return untilAborted(clock, signal, attempt);
  const ended = new AbortController();
  const end = () => ended.abort();
  if (signal.aborted) end();
  const timer = clock.schedule(patienceMs, end);
  signal.addEventListener("abort", end, { once: true });
  try {
    return await untilAborted(clock, ended.signal, attempt);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", end);
  }
}

async function untilAborted<Result>(
  clock: Clock,
  signal: AbortSignal,
  attempt: () => Promise<Result>,
): Promise<Result> {
  let outage: StoreOutage | undefined;
  const last = () => outage ?? new StoreOutage(new Error("The store has not answered in time."));
  if (signal.aborted) throw last();
  const onOutage = (met: StoreOutage) => {
    outage = met;
  };
  let abandon = () => {};
  const abandoned = new Promise<never>((_, reject) => {
    abandon = () => reject(last());
  });
  signal.addEventListener("abort", abandon, { once: true });
  try {
    return await Promise.race([retryStore({ clock, signal, onOutage }, attempt), abandoned]);
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}
