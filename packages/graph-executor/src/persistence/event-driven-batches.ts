import { AsyncBatchedStore, type BaseStore, type Operation } from "@langchain/langgraph-checkpoint";

/** What LangGraph's class keeps; its own types hide it. */
interface BatchedStore {
  readonly store: Pick<BaseStore, "batch">;
  readonly queue: Map<number, Waiting>;
  nextKey: number;
  running: boolean;
}

interface Waiting {
  readonly operation: Operation;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * LangGraph wraps the store of every run in an `AsyncBatchedStore`, which looks into its queue with a timer of 0 ms for as long as
 * the run lasts: fifty runs that wait for a model keep a twentieth of a core busy. Here the queue is emptied when something
 * enters it, at the end of the same turn, so that what a node asks for at once is still one batch.
 *
 * Changes the class for the whole process, and only while it has the members this relies on.
 */
export function emptyBatchesByEvent(): void {
  const { prototype } = AsyncBatchedStore;
  if (!("enqueueOperation" in prototype && "processBatchQueue" in prototype)) return;
  Object.assign(prototype, {
    enqueueOperation(this: BatchedStore, operation: Operation): Promise<unknown> {
      return new Promise((resolve, reject) => {
        if (this.queue.size === 0) setImmediate(() => void emptyQueue(this));
        this.queue.set(this.nextKey, { operation, resolve, reject });
        this.nextKey += 1;
      });
    },
    async processBatchQueue(): Promise<void> {},
  });
}

async function emptyQueue({ store, queue }: BatchedStore): Promise<void> {
  const batch = [...queue.values()];
  queue.clear();
  try {
    const results: readonly unknown[] = await store.batch(batch.map(({ operation }) => operation));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
