import { runLogConformance } from "../conformance/run-log-conformance.js";
import { createMemoryDatabase } from "./database.js";
import { createMemoryLogStore } from "./log-store.js";

runLogConformance("The memory store", async () => {
  const database = createMemoryDatabase();
  return {
    openStore: async () => createMemoryLogStore(database),
    closeStore: async () => {},
    close: async () => {},
  };
});
