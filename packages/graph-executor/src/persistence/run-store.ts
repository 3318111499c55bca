import { BaseStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import { type Clock, isStoreOutage, retryStore, ThroughlineError } from "@throughline/ai-core";

export interface RunStoreOptions {
  readonly clock: Clock;
  /** Once it is aborted nothing is written, and nothing waits for a store that is away. */
  readonly signal: AbortSignal;
  /** Called with a write that was refused because another instance drives the run. It is expected to abort the graph. */
  readonly onWriteFailed: (error: unknown) => void;
}

/**
 * The store of one run. While the database is away a node that uses it waits. It takes writes only while the run goes on:
 * a node that ignores its abort signal may come back long after its run ended, and would bring back what was deleted since.
 * Reading is always allowed. What comes too late is dropped without a word: a rejection that nothing waits for would end
 * the process.
 */
export class RunStore extends BaseStore {
  readonly #inner: BaseStore;
  readonly #options: RunStoreOptions;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  constructor(inner: BaseStore, options: RunStoreOptions) {
    super();
    this.#inner = inner;
    this.#options = options;
  }

  /** Resolves when what was under way is done, so that a deletion after it deletes that too. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
  }

  /** The one method every other goes through, LangGraph's own batching included. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const perform = () => retryStore(this.#options, () => this.#inner.batch(operations));
    if (!operations.some(isWrite)) return perform();
    if (this.#takesNothing) return this.#readOnly(operations);
    const writing = perform();
    this.#underWay.add(writing);
    try {
      return await writing;
    } catch (error) {
      if (!this.#takesNothing && isConflict(error)) this.#options.onWriteFailed(error);
      else if (!isConflict(error) && !isStoreOutage(error)) throw error;
      return this.#readOnly(operations);
    } finally {
      this.#underWay.delete(writing);
    }
  }

  get #takesNothing(): boolean {
    return this.#closed || this.#options.signal.aborted;
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

function isConflict(error: unknown): boolean {
  return error instanceof ThroughlineError && error.code === "conflict";
}
