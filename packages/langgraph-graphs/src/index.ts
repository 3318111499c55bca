export { describeGraph, LANGGRAPH_CATALOG } from "./catalog.js";
export { renderInstalledLanggraphJson, renderLanggraphJson } from "./langgraph-json.js";
export type { GraphDefinition, GraphDeps, RunnableGraph } from "./shared.js";
