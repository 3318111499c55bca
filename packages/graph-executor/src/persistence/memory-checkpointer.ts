import type { RunnableConfig } from "@langchain/core/runnables";
import { type CheckpointTuple, MemorySaver } from "@langchain/langgraph-checkpoint";
import { attachmentSerializer } from "./attachment-serializer.js";
import type { Checkpointer } from "./checkpointer.js";

/** Checkpoints that go with the process. */
export function createMemoryCheckpointer(): Checkpointer {
  const saver = new ReadableMemorySaver();
  saver.serde = attachmentSerializer(saver.serde);
  return { saver, async setup() {}, async close() {} };
}

/** MemorySaver makes room for a graph's first checkpoint before it has it, and fails on a reading in between. */
class ReadableMemorySaver extends MemorySaver {
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns = "" } = config.configurable ?? {};
    const stored = this.storage[thread_id]?.[checkpoint_ns];
    return stored && Object.keys(stored).length > 0 ? super.getTuple(config) : undefined;
  }
}
