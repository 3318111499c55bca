import { createInProcProvider, createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase, createMemoryRunRegistry } from "@throughline/thread-log";
import { catalogGraphs } from "./catalog-graphs.js";
import { freezingProvider } from "./freezing-provider.js";
import { openServiceScene, type ServiceScene } from "./service-scene.js";

export interface FreezingScenes {
  /** Its first attempts stand still. */
  readonly a: ServiceScene;
  readonly b: ServiceScene;
  /** Waits until `a` stands still in this run, and lets `b` take it up; `false` when it ended before. */
  takeOver(runId: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Two instances on one memory: `a` stands still after so many chunks of a run, as a process that hangs. */
export async function openFreezingScenes(chunks: number): Promise<FreezingScenes> {
  const shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
  const store = { kind: "memory" as const, shared };
  const b = await openServiceScene({ store });
  const inner = createInProcProvider({
    graphs: catalogGraphs(),
    checkpointer: shared.checkpointer.saver,
    lease: createMemoryRunRegistry(shared.database),
  });
  const graphs = freezingProvider(inner, chunks);
  // Hears soon that it lost its lease: there is nothing else it would notice.
  const a = await openServiceScene({ store, graphs, leaseMs: 200 });
  return {
    a,
    b,
    async takeOver(runId) {
      const isFrozen = await graphs.frozen;
      const run = shared.database.runs.get(runId);
      if (run && isFrozen) run.leaseUntil = 0;
      await b.service.runs.reap();
      return isFrozen;
    },
    async close() {
      await Promise.all([a.close(), b.close()]);
    },
  };
}
