import type { GraphDefinition } from "../graph-definition.js";
import { conversationInputSchema, conversationStateSchema } from "../message-schema.js";
import { createChatGraph } from "./graph.js";

export const chatDefinition: GraphDefinition = {
  graphName: "chat",
  name: "Chat",
  description: "Talks over many turns, and uses a clock, a calculator and a glossary when they help.",
  capabilities: ["chat", "tools"],
  commands: [],
  suggestions: [
    "What is 6 * 7, and what is the time in Tokyo?",
    "Look up Throughline",
    "Tell me about Japan",
  ],
  inputSchema: conversationInputSchema,
  outputSchema: conversationStateSchema,
  create: (deps) => createChatGraph(deps),
};
