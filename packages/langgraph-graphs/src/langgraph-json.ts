import { LANGGRAPH_CATALOG } from "./catalog.js";
import type { GraphDefinition } from "./shared.js";

/** Loaded as TypeScript, so that an edit shows without a build. */
const SOURCE = "./src/serve.ts";
/** The built module, as a project that installs this package names it. */
const INSTALLED = "./node_modules/@throughline/langgraph-graphs/dist/serve.js";

/** Registers the graphs with a server. */
export function langgraphDocument(catalog: readonly GraphDefinition[], module = SOURCE) {
  return {
    node_version: "20",
    graphs: Object.fromEntries(
      catalog.map((definition) => [definition.graphName, entryOf(definition, module)]),
    ),
  };
}

/** LangGraph's own servers read `path` and `description`; Throughline reads the rest. */
function entryOf(definition: GraphDefinition, module: string) {
  const { graphName, name, description, capabilities, commands, suggestions, subgraphs } = definition;
  return {
    path: `${module}:${graphName}`,
    name,
    description,
    capabilities,
    ...(commands.length > 0 && { commands }),
    suggestions,
    hasScript: true,
    ...(subgraphs && { subgraphs }),
  };
}

/** The text of `langgraph.json`, derived so that it can't drift from the catalogue. */
export function renderLanggraphJson(): string {
  return render(SOURCE);
}

/** The text of `langgraph.json` for the project of the service's image, which holds only built files. */
export function renderInstalledLanggraphJson(): string {
  return render(INSTALLED);
}

function render(module: string): string {
  return `${JSON.stringify(langgraphDocument(LANGGRAPH_CATALOG, module), undefined, 2)}\n`;
}
