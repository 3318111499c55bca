import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type CheckpointListOptions,
  type CheckpointTuple,
  MemorySaver,
} from "@langchain/langgraph-checkpoint";
import { read } from "@throughline/coerce";
import { attachmentSerializer } from "./attachment-serializer.js";
import type { Checkpointer } from "./checkpointer.js";

/** Checkpoints that go with the process. */
export function createMemoryCheckpointer(): Checkpointer {
  const saver = new ReadableMemorySaver();
  saver.serde = attachmentSerializer(saver.serde);
  return { saver, async setup() {}, async close() {} };
}

/**
 * MemorySaver with two corrections. It makes room for a graph's first checkpoint before it has it, and fails on a read in
 * between. Its filter compares by identity, so none with a nested value finds anything; PostgreSQL's compares by containment.
 */
class ReadableMemorySaver extends MemorySaver {
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns = "" } = config.configurable ?? {};
    const stored = this.storage[thread_id]?.[checkpoint_ns];
    return stored && Object.keys(stored).length > 0 ? super.getTuple(config) : undefined;
  }

  override async *list(
    config: RunnableConfig,
    { filter, limit, ...options }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    if (left <= 0) return;
    for await (const tuple of super.list(config, options)) {
      if (filter && !contains(tuple.metadata, filter)) continue;
      yield tuple;
      left -= 1;
      if (left <= 0) return;
    }
  }
}

/** Whether a value has everything that a filter names, as PostgreSQL's `@>` compares. */
function contains(value: unknown, filter: unknown): boolean {
  if (typeof filter !== "object" || filter === null) return value === filter;
  return Object.entries(filter).every(([key, wanted]) => contains(read(value, key), wanted));
}
