import { LANGGRAPH_CATALOG } from "./catalog.js";
import type { GraphDefinition } from "./graphs/graph-definition.js";

/** The dev server's registration of the graphs. It loads the TypeScript source, so an edit shows without a build. */
export function langgraphDocument(catalog: readonly GraphDefinition[]) {
  return {
    node_version: "20",
    graphs: Object.fromEntries(catalog.map(({ graphName }) => [graphName, `./src/serve.ts:${graphName}`])),
  };
}

/** The text of `langgraph.json`, derived so that it can't drift from the catalogue. */
export function renderLanggraphJson(): string {
  return `${JSON.stringify(langgraphDocument(LANGGRAPH_CATALOG), undefined, 2)}\n`;
}
