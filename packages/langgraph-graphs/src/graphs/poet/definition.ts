import type { GraphDefinition } from "../graph-definition.js";
import { conversationInputSchema, conversationStateSchema } from "../message-schema.js";
import { createPoetGraph } from "./graph.js";

export const poetDefinition: GraphDefinition = {
  graphName: "poet",
  name: "Poet",
  description: "Writes a short poem on whatever you name.",
  capabilities: ["chat"],
  commands: [],
  suggestions: ["Write a poem about the sea", "A poem about early trains"],
  inputSchema: conversationInputSchema,
  outputSchema: conversationStateSchema,
  create: createPoetGraph,
};
