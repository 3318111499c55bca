export { describeGraph, LANGGRAPH_CATALOG } from "./catalog.js";
export type { GraphDefinition, GraphDeps, RunnableGraph } from "./graphs/graph-definition.js";
export { renderLanggraphJson } from "./langgraph-json.js";
export { type CreateModelOptions, createModel } from "./model/create-model.js";
export { keepCallContexts } from "./model/keep-call-contexts.js";
export { envKeyResolver, UNNAMED_KEY_ID } from "./model/key-resolver.js";
export { OFFLINE_MODEL_NAME, OfflineChatModel, type OfflineChatModelFields } from "./model/offline-model.js";
export type { OfflinePart, OfflinePrompt, OfflineScript } from "./model/offline-script.js";
