export { createAggregatingAgentCatalog } from "./aggregate/aggregating-agent-catalog.js";
export { createAggregatingGraphExecutor } from "./aggregate/aggregating-graph-executor.js";
export { namedAttachment, withBytes } from "./attachments/attachment-block.js";
export { attachmentIdHash, takeFiles, withoutUnstored } from "./attachments/found-files.js";
export { type Backend, selectBackend } from "./backend/select-backend.js";
export type { GraphNotes } from "./graphs/describe-graph.js";
export { graphRegistry, type RegisteredGraph } from "./graphs/graph-registry.js";
export type { GraphOpening, GraphSource } from "./graphs/graph-source.js";
export { type GraphSpec, type LanggraphJson, readLanggraphJson } from "./graphs/langgraph-json.js";
export { loadProjectGraphs } from "./graphs/project-graphs.js";
export type { RunnableGraph } from "./graphs/runnable-graph.js";
export { createInProcProvider, type InProcProviderOptions } from "./inproc/inproc-provider.js";
export { failStrayRun } from "./inproc/stray-errors.js";
export {
  addCheckpointCounts,
  type CheckpointCounts,
  type CheckpointRetention,
  NO_CHECKPOINTS,
} from "./persistence/checkpoint-retention.js";
export type { Checkpointer } from "./persistence/checkpointer.js";
export { fencedSaver } from "./persistence/fenced-saver.js";
export { createMemoryGraphStore, type GraphStore } from "./persistence/graph-store.js";
export { createMemoryCheckpointer } from "./persistence/memory-checkpointer.js";
export {
  createPostgresCheckpointer,
  type PostgresCheckpointerOptions,
} from "./persistence/postgres-checkpointer.js";
export {
  createPostgresGraphStore,
  type PostgresGraphStoreOptions,
} from "./persistence/postgres-graph-store.js";
export { crowdedThreads, measurePrunable, pruneCheckpoints } from "./persistence/prune-checkpoints.js";
export { pruneMemoryCheckpoints } from "./persistence/prune-memory-checkpoints.js";
export { createStoreItems, type StoreItem, type StoreItems } from "./persistence/store-items.js";
export { tenantNamespace, tenantStore } from "./persistence/tenant-store.js";
export type { GraphProvider } from "./provider/graph-provider.js";
export {
  createLangGraphDevProvider,
  createLangGraphServerAdapter,
  type ServerProviderOptions,
} from "./server/server-provider.js";
export type { WatchPace } from "./watcher/watch-plan.js";
