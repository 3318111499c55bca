export { createAggregatingAgentCatalog } from "./aggregate/aggregating-agent-catalog.js";
export { createAggregatingGraphExecutor } from "./aggregate/aggregating-graph-executor.js";
export { type Backend, selectBackend } from "./backend/select-backend.js";
export { graphRegistry, type RegisteredGraph } from "./graphs/graph-registry.js";
export type { GraphOpening, GraphSource } from "./graphs/graph-source.js";
export { loadProjectGraphs } from "./graphs/project-graphs.js";
export type { RunnableGraph } from "./graphs/runnable-graph.js";
export { createInProcProvider, type InProcProviderOptions } from "./inproc/inproc-provider.js";
export type { Checkpointer } from "./persistence/checkpointer.js";
export { fencedSaver } from "./persistence/fenced-saver.js";
export { createMemoryCheckpointer } from "./persistence/memory-checkpointer.js";
export {
  createPostgresCheckpointer,
  type PostgresCheckpointerOptions,
} from "./persistence/postgres-checkpointer.js";
export { tenantNamespace, tenantStore } from "./persistence/tenant-store.js";
export type { GraphProvider } from "./provider/graph-provider.js";
export {
  createLangGraphDevProvider,
  createLangGraphServerAdapter,
  type ServerProviderOptions,
} from "./server/server-provider.js";
export type { ForeignChunk, ForeignRun } from "./watcher/foreign-run.js";
export {
  createForeignRunWatcher,
  type ForeignRunListener,
  type ForeignRunWatcher,
  type ForeignRunWatcherOptions,
  type StateChange,
} from "./watcher/foreign-run-watcher.js";
export { createLocalClaims } from "./watcher/local-claims.js";
