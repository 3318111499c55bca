import { describe, expect, it } from "vitest";
import { describeGraph, LANGGRAPH_CATALOG } from "./catalog.js";

describe("the catalogue", () => {
  it("lists the seven graphs in their order", () => {
    expect(LANGGRAPH_CATALOG.map((definition) => definition.graphName)).toEqual([
      "chat",
      "poet",
      "ponderer",
      "travel",
      "researcher",
      "sentinel",
      "approver",
    ]);
  });

  it.each(LANGGRAPH_CATALOG.map((definition) => [definition.graphName, definition] as const))(
    "describes %s under its stable id, with JSON Schemas a client can read",
    (graphName, definition) => {
      const descriptor = describeGraph(definition);
      expect(descriptor.graphId).toBe(`langgraph:${graphName}`);
      expect(descriptor.inputSchema).toMatchObject({ type: "object", properties: { messages: {} } });
      expect(descriptor.outputSchema).toMatchObject({ type: "object", properties: { messages: {} } });
      expect(descriptor.subgraphs).toEqual(definition.subgraphs);
      expect(JSON.parse(JSON.stringify(descriptor))).toEqual(descriptor);
    },
  );

  it("suggests questions for every graph, and says that it brings a script", () => {
    for (const definition of LANGGRAPH_CATALOG) {
      const { suggestions = [], hasScript, description } = describeGraph(definition);
      expect(suggestions.length, definition.graphName).toBeGreaterThan(0);
      expect([hasScript, description]).toEqual([true, expect.stringMatching(/./)]);
    }
  });

  it("claims subgraphs exactly where it describes them", () => {
    for (const { graphName, capabilities, subgraphs = {} } of LANGGRAPH_CATALOG) {
      const claimed = capabilities.includes("subgraphs") || capabilities.includes("subagents");
      expect([graphName, Object.keys(subgraphs).length > 0]).toEqual([graphName, claimed]);
    }
  });
});
