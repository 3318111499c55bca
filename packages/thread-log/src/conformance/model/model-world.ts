import type { Fence } from "@throughline/ai-core";
import type { StoreAppend } from "../../log/log-store.js";
import type { MemoryDatabase, MemoryThread } from "../../memory/database.js";
import type { LeasedRun, StartLook, StartRun } from "../../registry/run-registry.js";

import { type ThreadRef, threadKey } from "../../thread-ref.js";

/** A lease that was handed out, still held or not. */
export interface KnownLease {
  readonly thread: ThreadRef;
  readonly fence: Fence;
}

/** What the commands of a case know: the database as it was explained last, and what was asked so far. */
export interface ModelWorld {
  state: MemoryDatabase;
  readonly threads: readonly ThreadRef[];
  readonly leases: KnownLease[];
  /** Every append that was sent, in order, with what became of it. */
  readonly appends: SentAppend[];
  readonly starts: StartRun[];
  /** Keys of threads of which a trim was cut off, and none was answered since. */
  readonly halfTrimmed: Set<string>;
  readonly looks: { readonly request: StartRun; readonly look: StartLook }[];
  nextNumber(): number;
}

export interface SentAppend {
  readonly append: StoreAppend;
  outcome: "taken" | "refused" | "lost";
  epoch?: string;
  first?: number;
}

const ACCOUNTS = ["acme", "zeta"] as const;

/** Each differs from another in one part of its key only: a condition that forgets that part mixes them up. */
const THREADS: readonly ThreadRef[] = [
  { account: ACCOUNTS[0], threadId: "one" },
  { account: ACCOUNTS[0], threadId: "two" },
  { account: ACCOUNTS[0], subject: "ann", threadId: "one" },
  { account: ACCOUNTS[1], threadId: "one" },
];

export function createModelWorld(state: MemoryDatabase): ModelWorld {
  let numbers = 0;
  return {
    state,
    threads: THREADS,
    leases: [],
    appends: [],
    starts: [],
    halfTrimmed: new Set(),
    looks: [],
    nextNumber: () => {
      numbers += 1;
      return numbers;
    },
  };
}

export function pick<T>(items: readonly T[], n: number): T | undefined {
  return items[n % Math.max(1, items.length)];
}

export function threadAt(world: ModelWorld, n: number): ThreadRef {
  const found = pick(world.threads, n);
  if (!found) throw new Error("a world has threads");
  return found;
}

export function rowOf(world: ModelWorld, thread: ThreadRef): MemoryThread | undefined {
  return world.state.threads.get(threadKey(thread));
}

/** Mostly one that is held; now and then one that was, which must be refused. */
export function leaseAt(
  world: ModelWorld,
  n: number,
  isOld: boolean,
  within?: ThreadRef,
): KnownLease | undefined {
  const held = [...world.state.runs.values()]
    .filter(
      ({ status, thread }) => status === "running" && (!within || threadKey(thread) === threadKey(within)),
    )
    .map(({ thread, runId, token }) => ({ thread, fence: { threadId: thread.threadId, runId, token } }));
  if (within) return held[0];
  return (isOld ? undefined : pick(held, n)) ?? pick(world.leases, n);
}

export const HOUR_MS = 3_600_000;
export const MODEL_LEASE = { owner: "here", leaseMs: HOUR_MS };

export function remember(world: ModelWorld, { run, fence }: LeasedRun): void {
  world.leases.push({ thread: run.thread, fence });
}

/** For reports. */
export function named(thread: ThreadRef): string {
  return `${thread.account}/${thread.subject ?? ""}/${thread.threadId}`;
}
