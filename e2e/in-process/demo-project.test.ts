import { fileURLToPath } from "node:url";
import { loadProjectGraphs } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { expect, it } from "vitest";

const PROJECT = fileURLToPath(new URL("../../packages/langgraph-graphs/langgraph.json", import.meta.url));

it("a project's file says of its graphs all that their catalogue says", async () => {
  const graphs = await loadProjectGraphs(PROJECT);
  const served = await graphs.list();
  expect(served.map(({ graphName }) => graphName)).toEqual(
    LANGGRAPH_CATALOG.map(({ graphName }) => graphName),
  );
  for (const definition of LANGGRAPH_CATALOG) {
    const { name, description, commands, suggestions, hasScript, capabilities } = describeGraph(definition);
    const descriptor = served.find(({ graphName }) => graphName === definition.graphName);
    expect(descriptor).toMatchObject({ name, description, commands, suggestions, hasScript });
    expect(descriptor?.capabilities).toEqual(expect.arrayContaining(capabilities));
    const keys = Object.keys(Object(describeGraph(definition).inputSchema.properties));
    expect(Object.keys(Object(descriptor?.inputSchema.properties))).toEqual(expect.arrayContaining(keys));
  }
});
