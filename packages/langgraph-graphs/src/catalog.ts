import { type GraphDescriptor, graphDescriptorSchema, toGraphId } from "@throughline/ai-core";
import { modelContextSchema } from "@throughline/langgraph-models";
import { z } from "zod";
import { approverDefinition } from "./approver/graph.js";
import { chatDefinition } from "./chat/graph.js";
import { poetDefinition } from "./poet.js";
import { pondererDefinition } from "./ponderer.js";
import { researcherDefinition } from "./researcher/graph.js";
import { sentinelDefinition } from "./sentinel/graph.js";
import type { GraphDefinition } from "./shared.js";
import { travelDefinition } from "./travel/graph.js";

/** All graphs, in the order people see them. `langgraph.json` is generated from this list. */
export const LANGGRAPH_CATALOG: readonly GraphDefinition[] = [
  chatDefinition,
  poetDefinition,
  pondererDefinition,
  travelDefinition,
  researcherDefinition,
  sentinelDefinition,
  approverDefinition,
];

/** The descriptor of a graph, known before it runs; its zod schemas become JSON Schema. */
export function describeGraph(definition: GraphDefinition): GraphDescriptor {
  const { graphName, name, description, capabilities, commands, suggestions, subgraphs } = definition;
  return graphDescriptorSchema.parse({
    graphId: toGraphId(graphName),
    graphName,
    name,
    description,
    capabilities,
    commands,
    suggestions,
    hasScript: true,
    inputSchema: z.toJSONSchema(definition.inputSchema, { io: "input" }),
    outputSchema: z.toJSONSchema(definition.outputSchema),
    // Every graph here makes its model with `createModel`.
    contextSchema: z.toJSONSchema(modelContextSchema, { io: "input" }),
    ...(subgraphs && { subgraphs }),
  });
}
