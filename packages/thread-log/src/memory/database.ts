import { randomBytes } from "node:crypto";
import { type Clock, type GraphRunStart, type JsonObject, systemClock } from "@throughline/ai-core";
import type { StoredEntry, Wake } from "../log/log-store.js";
import type { Snapshot } from "../log/thread-log.js";
import type { RegistryStatus, RunOrigin } from "../registry/run-registry.js";
import type { ForkOrigin, ThreadStatus } from "../thread-directory.js";
import {
  beingDeleted,
  type DeletedScope,
  isCovered,
  type LogScope,
  type ThreadRef,
  threadKey,
} from "../thread-ref.js";

export interface MemoryEntry extends StoredEntry {
  readonly at: number;
  readonly bytes: number;
  readonly endOfRun: string | undefined;
}

export interface MemoryThread {
  readonly thread: ThreadRef;
  readonly createdAt: number;
  stateKey: string;
  updatedAt: number;
  epoch: string;
  /** The highest token that ever wrote or opened: lower ones are refused. 0 while no writer did. */
  fence: bigint;
  deleted: boolean;
  /** Grows with every change of the thread's runs, stops and interrupts. */
  revision: number;
  head: number;
  floor: number;
  /** Up to this seq entries may have been merged into later ones. */
  compacted: number;
  lastAppendId: string | undefined;
  heldBytes: number;
  unfoldedBytes: number;
  /** In order of `seq`; below `floor` only terminals, and what a database that was interrupted has yet to delete. */
  entries: MemoryEntry[];
  /** Snapshots by fold version, newest first. */
  snapshots: Map<number, readonly Snapshot[]>;
}

export interface MemoryRun {
  readonly thread: ThreadRef;
  readonly runId: string;
  readonly alias: string | undefined;
  readonly graphId: string;
  readonly origin: RunOrigin;
  readonly request: JsonObject;
  readonly createdAt: number;
  /** Runs that preempt wait before those that were enqueued; each kind in order of arrival. */
  readonly preempts: boolean;
  status: RegistryStatus;
  start: GraphRunStart | undefined;
  attempt: number;
  crashes: number;
  /** The token of a driver whose lease ran out: if it is alive, it takes the crash back. */
  presumedDead: bigint | undefined;
  owner: string | undefined;
  token: bigint;
  leaseUntil: number | undefined;
  upstreamRunId: string | undefined;
  stopRequested: boolean;
  endedAt: number | undefined;
}

export interface MemoryInterrupt {
  readonly interruptId: string;
  runId: string;
  answeredBy: string | undefined;
  answer: string | undefined;
}

export interface MemoryListing {
  readonly thread: ThreadRef;
  readonly graphId: string;
  readonly threadName: string;
  readonly createdAt: number;
  title: string | undefined;
  derivedTitle: string | undefined;
  isArchived: boolean;
  forkedFrom: ForkOrigin | undefined;
  model: string | undefined;
  status: ThreadStatus;
  lastRunId: string;
  token: bigint;
  lastActivityAt: number;
}

/**
 * A database in memory, for tests and for one process that needs no history. Several stores on one of these are
 * several instances; it outlives them, as a database outlives its clients.
 */
export interface MemoryDatabase {
  readonly clock: Clock;
  readonly threads: Map<string, MemoryThread>;
  /** In order of arrival. */
  readonly runs: Map<string, MemoryRun>;
  readonly interrupts: Map<string, Map<string, MemoryInterrupt>>;
  /** Key of thread and name of run → when the tombstone expires. */
  readonly stops: Map<string, number>;
  readonly listings: Map<string, MemoryListing>;
  /** Scopes in which nothing may start, by the id of what closed them. */
  readonly closures: Map<string, DeletedScope>;
  readonly wakeListeners: Map<(wake: Wake) => void, object>;
  readonly stopListeners: Set<(runId: string) => void>;
  readonly releaseListeners: Set<() => void>;
  lastToken: bigint;
}

export function createMemoryDatabase(clock: Clock = systemClock): MemoryDatabase {
  return {
    clock,
    threads: new Map(),
    runs: new Map(),
    interrupts: new Map(),
    stops: new Map(),
    listings: new Map(),
    closures: new Map(),
    wakeListeners: new Map(),
    stopListeners: new Set(),
    releaseListeners: new Set(),
    lastToken: 0n,
  };
}

export function newEpoch(): string {
  return randomBytes(9).toString("base64url");
}

/** Grows over all threads, and past whatever token this one has seen. */
export function mintToken(database: MemoryDatabase, thread: MemoryThread): bigint {
  if (thread.fence > database.lastToken) database.lastToken = thread.fence;
  database.lastToken += 1n;
  return database.lastToken;
}

export function ensureThread(database: MemoryDatabase, thread: ThreadRef): MemoryThread {
  const key = threadKey(thread);
  const found = database.threads.get(key);
  if (found) return found;
  const now = database.clock.now();
  const made: MemoryThread = {
    thread: { ...thread },
    createdAt: now,
    stateKey: "",
    updatedAt: now,
    epoch: newEpoch(),
    fence: 0n,
    deleted: false,
    revision: 0,
    head: 0,
    floor: 1,
    compacted: 0,
    lastAppendId: undefined,
    heldBytes: 0,
    unfoldedBytes: 0,
    entries: [],
    snapshots: new Map(),
  };
  database.threads.set(key, made);
  return made;
}

/** The seq it covers; 0 without one. */
export function newestSnapshot({ snapshots }: MemoryThread): number {
  return Math.max(0, ...[...snapshots.values()].map(([newest]) => newest?.position.seq ?? 0));
}

export interface MemoryTrim {
  readonly through: number;
  readonly maxTerminals: number;
}

/**
 * The steps of a trim, in order. A database that is interrupted has performed the first few of them; the next trim of the thread
 * performs the others, because each deletes whatever is below the floor.
 */
export const TRIM_STEPS: readonly ((row: MemoryThread, trim: MemoryTrim) => void)[] = [
  raiseFloor,
  deleteEntries,
  deleteTerminals,
  deleteSnapshots,
];

/** Not past the newest snapshot, and not into what was merged: a merged entry goes as a whole or stays. */
function raiseFloor(row: MemoryThread, { through }: MemoryTrim): void {
  const wanted = Math.min(through, newestSnapshot(row));
  const cut = row.entries.findLast(({ seq }) => seq <= wanted)?.seq ?? 0;
  if (cut < row.floor) return;
  row.floor = cut + 1;
  row.heldBytes = row.entries.reduce((sum, { seq, bytes }) => (seq >= row.floor ? sum + bytes : sum), 0);
}

function deleteEntries(row: MemoryThread): void {
  row.entries = row.entries.filter(({ seq, endOfRun }) => seq >= row.floor || endOfRun !== undefined);
}

function deleteTerminals(row: MemoryThread, { maxTerminals }: MemoryTrim): void {
  const terminals = row.entries.filter(({ seq, endOfRun }) => seq < row.floor && endOfRun !== undefined);
  const deleted = new Set(maxTerminals > 0 ? terminals.slice(0, -maxTerminals) : terminals);
  row.entries = row.entries.filter((entry) => !deleted.has(entry));
}

function deleteSnapshots(row: MemoryThread): void {
  for (const [version, snapshots] of row.snapshots) {
    row.snapshots.set(
      version,
      snapshots.filter(({ position }) => position.seq + 1 >= row.floor),
    );
  }
}

export function isScopeClosed({ closures }: MemoryDatabase, scope: LogScope): boolean {
  return [...closures.values()].some((closed) => isCovered(scope, closed));
}

/** Admits a write that a deletion would have to find: call it in the turn that writes. Throws `beingDeleted`. */
export function admitInMemory(database: MemoryDatabase, scope: LogScope): void {
  if (isScopeClosed(database, scope)) throw beingDeleted();
}

/** Closes a scope: from the next turn on nothing may start in it. Closing it again under the same id changes nothing. */
export function closeMemoryScope({ closures }: MemoryDatabase, id: string, scope: DeletedScope): void {
  if (!closures.has(id)) closures.set(id, scope);
}

export function openMemoryScope({ closures }: MemoryDatabase, id: string): void {
  closures.delete(id);
}
