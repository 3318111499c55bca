export { describeGraph, LANGGRAPH_CATALOG } from "./catalog.js";
export type { GraphDefinition, GraphDeps, RunnableGraph } from "./graphs/graph-definition.js";
export { renderInstalledLanggraphJson, renderLanggraphJson } from "./langgraph-json.js";
