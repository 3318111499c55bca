import { createMemoryCheckpointer } from "@throughline/graph-executor";
import type { ServiceStore } from "@throughline/langgraph-server";
import { createMemoryDatabase } from "@throughline/thread-log";

export type SharedMemory = NonNullable<Extract<ServiceStore, { kind: "memory" }>["shared"]>;

export function newMemory(): SharedMemory {
  return { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
}

/**
 * What a process leaves behind that is killed now: all that its stores hold, nothing of what it was about to write, and
 * leases that are not renewed. The original does not notice.
 */
export function leftBehind({ database, checkpointer }: SharedMemory): SharedMemory {
  const { threads, runs, interrupts, stops, lastToken } = database;
  const left = newMemory();
  Object.assign(left.database, structuredClone({ threads, runs, interrupts, stops, lastToken }));
  for (const run of left.database.runs.values()) {
    if (run.leaseUntil !== undefined) run.leaseUntil = 0;
  }
  const saved = {
    storage: Reflect.get(checkpointer.saver, "storage"),
    writes: Reflect.get(checkpointer.saver, "writes"),
  };
  Object.assign(left.checkpointer.saver, structuredClone(saved));
  return left;
}
