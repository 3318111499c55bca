import { BaseStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import type { Fence, LeasePort } from "@throughline/ai-core";
import { FencedPostgresStore } from "./fenced-postgres-store.js";

/** R17: a LangGraph store for one run, with the same promise as `fencedSaver`. */
export function fencedStore(store: BaseStore, lease: LeasePort, fence: Fence): BaseStore {
  const { heldQuery } = lease;
  if (heldQuery && store instanceof FencedPostgresStore) return store.heldBy({ fence, heldQuery });
  return new AskingStore(store, () => lease.assertHeld(fence));
}

class AskingStore extends BaseStore {
  readonly #inner: BaseStore;
  readonly #assertHeld: () => Promise<void>;

  constructor(inner: BaseStore, assertHeld: () => Promise<void>) {
    super();
    this.#inner = inner;
    this.#assertHeld = assertHeld;
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    if (operations.some((operation) => "value" in operation)) await this.#assertHeld();
    return this.#inner.batch(operations);
  }
}
