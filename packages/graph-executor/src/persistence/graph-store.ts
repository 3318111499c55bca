import { type BaseStore, InMemoryStore } from "@langchain/langgraph-checkpoint";

/** What graphs remember beyond their threads, and its upkeep, for callers that know nothing of LangChain. */
export interface GraphStore {
  readonly store: BaseStore;
  /** Creates or migrates what the store needs. Once per process, before the first run. */
  setup(): Promise<void>;
  close(): Promise<void>;
}

/** Gone with the process. */
export function createMemoryGraphStore(): GraphStore {
  return { store: new InMemoryStore(), async setup() {}, async close() {} };
}
