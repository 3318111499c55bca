export { loadAttachmentBlock, namedAttachment } from "./attachments/blocks.js";
export { attachmentIdHash, dropUnstored, extractFiles } from "./attachments/files.js";
export type { Checkpointer } from "./checkpoints/checkpointer.js";
export {
  createMemoryCheckpointer,
  createPostgresCheckpointer,
  type PostgresCheckpointerOptions,
} from "./checkpoints/checkpointer.js";
export {
  addCheckpointCounts,
  type CheckpointCounts,
  type CheckpointRetention,
  measurePrunable,
  NO_CHECKPOINTS,
  prunableThreads,
  pruneCheckpoints,
  pruneMemoryCheckpoints,
} from "./checkpoints/retention.js";
export { fencedSaver } from "./checkpoints/run-saver.js";
export type { WatchSchedule } from "./external-runs/watch.js";
export type { GraphNotes, GraphOpening, GraphSource, RunnableGraph } from "./graphs/graph.js";
export { graphRegistry, type RegisteredGraph } from "./graphs/graph.js";
export { type GraphSpec, type LanggraphJson, readLanggraphJson } from "./graphs/langgraph-json.js";
export { loadProjectGraphs } from "./graphs/project-graphs.js";
export { createInProcProvider, type InProcProviderOptions } from "./inproc/provider.js";
export { failRunOfUnhandledError } from "./inproc/run.js";
export type { GraphProvider } from "./provider.js";
export {
  type Backend,
  createAggregatingAgentCatalog,
  createAggregatingGraphExecutor,
  selectBackend,
} from "./provider.js";
export {
  createLangGraphDevProvider,
  createLangGraphServerAdapter,
  type ServerProviderOptions,
} from "./server/executor.js";
export {
  createMemoryGraphStore,
  createPostgresGraphStore,
  type GraphStore,
  type PostgresGraphStoreOptions,
} from "./store/graph-store.js";
export { createStoreItems, type StoreItem, type StoreItems } from "./store/store-items.js";
export { tenantNamespace, tenantStore } from "./store/tenant-store.js";
