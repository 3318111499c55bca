import { BaseStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";

/**
 * The store of one run, which takes writes only while the run goes on: a node that ignores its abort signal may come back long
 * after its run ended, and would bring back what somebody has deleted since. Reading is always allowed. What comes too late is
 * dropped without a word: a rejection that nobody waits for would end the process.
 */
export class RunStore extends BaseStore {
  readonly #inner: BaseStore;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  constructor(inner: BaseStore) {
    super();
    this.#inner = inner;
  }

  /** Resolves when what was under way is done, so that whoever deletes next deletes that too. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
  }

  /** The one method every other goes through, LangGraph's own batching included. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    if (!operations.some(isWrite)) return this.#inner.batch(operations);
    if (this.#closed) return this.#readOnly(operations);
    const writing = this.#inner.batch(operations);
    this.#underWay.add(writing);
    try {
      return await writing;
    } finally {
      this.#underWay.delete(writing);
    }
  }

  async #readOnly<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const reads = operations.filter((operation) => !isWrite(operation));
    const results: unknown[] = reads.length > 0 ? await this.#inner.batch(reads) : [];
    const all = operations.map((operation) => (isWrite(operation) ? undefined : results.shift()));
    // One result per operation, of its kind: a map can't say that.
    return all as OperationResults<Op>;
  }
}

function isWrite(operation: Operation): boolean {
  return "value" in operation;
}
