import { z } from "zod";
import type { GraphDefinition } from "../graph-definition.js";
import { conversationInputSchema, messageSchema } from "../message-schema.js";
import { createResearcherGraph } from "./graph.js";
import { filesSchema, todosSchema } from "./researcher-state.js";

const messages = z.array(messageSchema);

export const researcherDefinition: GraphDefinition = {
  graphName: "researcher",
  name: "Researcher",
  description:
    "A deep agent: plans with todos, sends out subagents, keeps files, and answers with its sources.",
  capabilities: ["chat", "tools", "subagents", "subgraphs", "files"],
  commands: [],
  suggestions: ["How do cursors and leases keep a log safe?", "What does an agent do after a crash?"],
  inputSchema: conversationInputSchema,
  outputSchema: z.object({ messages, todos: todosSchema, files: filesSchema }),
  subgraphs: {
    scout: { messages: "messages", files: "files" },
    critic: { messages: "messages", files: "files" },
    evidence: { messages: "messages" },
  },
  create: createResearcherGraph,
};
