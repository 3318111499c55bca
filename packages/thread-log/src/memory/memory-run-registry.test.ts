import { createSimulatedClock } from "@throughline/ai-core";
import { runRegistryConformance } from "../conformance/run-registry-conformance.js";
import { createClockLeaseKeeper } from "../registry/leases.js";
import { closeMemoryScope, createMemoryDatabase, openMemoryScope } from "./database.js";
import { createMemoryThreadDirectory } from "./directory.js";
import { createMemoryLogStore } from "./log-store.js";
import { createMemoryRunRegistry } from "./run-registry.js";

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
