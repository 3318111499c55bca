import { createSimulatedClock } from "@throughline/ai-core";
import { runRegistryConformance } from "../conformance/run-registry-conformance.js";
import { createClockLeaseKeeper } from "../registry/clock-lease-keeper.js";
import { createMemoryDatabase } from "./memory-database.js";
import { createMemoryLogStore } from "./memory-log-store.js";
import { createMemoryRunRegistry } from "./memory-run-registry.js";
import { closeMemoryScope, openMemoryScope } from "./memory-scope-gate.js";
import { createMemoryThreadDirectory } from "./memory-thread-directory.js";

runRegistryConformance("The memory registry", async () => {
  const clock = createSimulatedClock(1_000_000);
  const database = createMemoryDatabase(clock);
  return {
    openInstance: async () => ({
      registry: createMemoryRunRegistry(database),
      store: createMemoryLogStore(database),
      directory: createMemoryThreadDirectory(database),
    }),
    openKeeper: async ({ registry }, options) =>
      createClockLeaseKeeper({ registry, clock, owner: "here", ...options }),
    closeScope: async (id, scope) => closeMemoryScope(database, id, scope),
    openScope: async (id) => openMemoryScope(database, id),
    async pass(ms) {
      clock.advance(ms);
    },
    stops: async () => database.stops.size,
    close: async () => {},
  };
});
