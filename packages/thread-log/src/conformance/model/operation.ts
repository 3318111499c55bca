import { isStoreOutage, StoreOutage, ThroughlineError } from "@throughline/ai-core";
import type { LogStore } from "../../log/log-store.js";
import { closeMemoryScope, type MemoryDatabase, openMemoryScope } from "../../memory/database.js";
import { createMemoryLogStore } from "../../memory/log-store.js";
import { createMemoryRunRegistry } from "../../memory/run-registry.js";
import type { RunRegistry } from "../../registry/run-registry.js";
import type { DeletedScope, ThreadRef } from "../../thread-ref.js";

/** What an operation is performed on: one instance of a service. */
export interface ModelInstance {
  readonly store: LogStore;
  readonly registry: RunRegistry;
  closeScope(id: string, scope: DeletedScope): Promise<void>;
  openScope(id: string): Promise<void>;
  /** Makes every lease, stop and end that much older. */
  pass(ms: number): Promise<void>;
}

/** The reference, which an order of operations is tried on. */
export interface Reference extends ModelInstance {
  readonly database: MemoryDatabase;
}

/** Something that must have happened at one moment, and what was answered. */
export interface Part {
  readonly text: string;
  readonly outcome: Outcome;
  perform(on: Reference): Promise<unknown>;
  /** Happens later, if this has happened. */
  readonly next?: Part | undefined;
}

export interface Operation {
  readonly text: string;
  /** Its answer depends on what others do at that moment in ways that no order explains (rows it skips). */
  readonly isAlone?: boolean;
  /** Of those that share a mark, one at a time. */
  readonly marks?: readonly string[];
  /** It locks several threads in no order: two such may lock each other out, and one of them is tried again. */
  readonly locksSeveral?: boolean;
  /** Its statements are never lost. */
  readonly isReliable?: boolean;
  perform(on: ModelInstance): Promise<unknown>;
  /** Of one that promises less than to happen at one moment; by default it is one part. */
  parts?(outcome: Outcome): readonly Part[];
  /** Of an answer: threads in which it ended a run and was told that none waits. */
  endsRunsOf?(answer: unknown): readonly ThreadRef[];
  /** Told after a round that could be explained. */
  learn?(outcome: Outcome): void;
}

export type Outcome =
  | { readonly kind: "answered"; readonly answer: unknown }
  | { readonly kind: "failed"; readonly error: string }
  /** It may have happened or not. */
  | { readonly kind: "lost"; readonly isDeadlock: boolean };

export async function attempt(work: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { kind: "answered", answer: await work() };
  } catch (error) {
    if (isStoreOutage(error)) {
      const cause = error instanceof StoreOutage ? error.cause : error;
      return {
        kind: "lost",
        isDeadlock: cause instanceof Error && "code" in cause && cause.code === "40P01",
      };
    }
    return { kind: "failed", error: error instanceof ThroughlineError ? error.code : String(error) };
  }
}

export function referenceOn(database: MemoryDatabase): Reference {
  return {
    database,
    store: createMemoryLogStore(database),
    registry: createMemoryRunRegistry(database),
    closeScope: async (id, scope) => closeMemoryScope(database, id, scope),
    openScope: async (id) => openMemoryScope(database, id),
    async pass(ms) {
      for (const run of database.runs.values()) {
        if (run.leaseUntil !== undefined) run.leaseUntil -= ms;
        if (run.endedAt !== undefined) run.endedAt -= ms;
      }
      for (const [key, until] of database.stops) database.stops.set(key, until - ms);
    },
  };
}
