import { type GraphDescriptor, graphDescriptorSchema, toGraphId } from "@throughline/ai-core";
import { modelContextSchema } from "@throughline/langgraph-models";
import { z } from "zod";
import { approverDefinition } from "./graphs/approver/definition.js";
import { chatDefinition } from "./graphs/chat/definition.js";
import type { GraphDefinition } from "./graphs/graph-definition.js";
import { poetDefinition } from "./graphs/poet/definition.js";
import { pondererDefinition } from "./graphs/ponderer/definition.js";
import { researcherDefinition } from "./graphs/researcher/definition.js";
import { sentinelDefinition } from "./graphs/sentinel/definition.js";
import { travelDefinition } from "./graphs/travel/definition.js";

/** Every graph there is, in the order people see them. `langgraph.json` is generated from this list. */
export const LANGGRAPH_CATALOG: readonly GraphDefinition[] = [
  chatDefinition,
  poetDefinition,
  pondererDefinition,
  travelDefinition,
  researcherDefinition,
  sentinelDefinition,
  approverDefinition,
];

/** What may be told about a graph before it runs; its zod schemas become JSON Schema. */
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
