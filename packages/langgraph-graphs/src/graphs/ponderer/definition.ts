import type { GraphDefinition } from "../graph-definition.js";
import { conversationInputSchema, conversationStateSchema } from "../message-schema.js";
import { createPondererGraph } from "./graph.js";

export const pondererDefinition: GraphDefinition = {
  graphName: "ponderer",
  name: "Ponderer",
  description: "Thinks aloud first, then answers.",
  capabilities: ["chat", "reasoning"],
  commands: [],
  inputSchema: conversationInputSchema,
  outputSchema: conversationStateSchema,
  subgraphSchemas: {},
  create: createPondererGraph,
};
