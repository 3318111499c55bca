import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { attachmentSerializer } from "./attachment-serializer.js";
import type { Checkpointer } from "./checkpointer.js";

/** Checkpoints that go with the process. */
export function createMemoryCheckpointer(): Checkpointer {
  const saver = new MemorySaver();
  saver.serde = attachmentSerializer(saver.serde);
  return { saver, async setup() {}, async close() {} };
}
