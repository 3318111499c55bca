import { runLogModel } from "../conformance/run-log-model.js";
import { createMemoryDatabase } from "./database.js";
import { createMemoryLogStore } from "./log-store.js";

runLogModel(
  "The log in memory",
  async () => {
    const database = createMemoryDatabase();
    return {
      openStore: async () => createMemoryLogStore(database),
      closeStore: async () => {},
      close: async () => {},
    };
  },
  { lanes: 1, scheduled: true, maxCommands: 20 },
);
