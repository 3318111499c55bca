import type { GraphDefinition } from "../graph-definition.js";
import { conversationInputSchema, conversationStateSchema } from "../message-schema.js";
import { createPondererGraph } from "./graph.js";

export const pondererDefinition: GraphDefinition = {
  graphName: "ponderer",
  name: "Ponderer",
  description: "Thinks aloud first, then answers.",
  capabilities: ["chat", "reasoning"],
  commands: [],
  suggestions: ["Should I learn to juggle?", "Is it better to plan or to begin?"],
  inputSchema: conversationInputSchema,
  outputSchema: conversationStateSchema,
  create: createPondererGraph,
};
