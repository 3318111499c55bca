import { MemorySaver } from "@langchain/langgraph-checkpoint";
import type { Checkpointer } from "./checkpointer.js";

/** Checkpoints that go with the process. */
export function createMemoryCheckpointer(): Checkpointer {
  return { saver: new MemorySaver(), async setup() {}, async close() {} };
}
