import { z } from "zod";
import type { GraphDefinition } from "../graph-definition.js";
import { conversationInputSchema, messageSchema } from "../message-schema.js";
import { filesSchema, todosSchema } from "../researcher/researcher-state.js";
import { createApproverGraph } from "./graph.js";

const messages = z.array(messageSchema);

export const approverDefinition: GraphDefinition = {
  graphName: "approver",
  name: "Approver",
  description: "Refunds, writes emails and files records, each after a person has approved it.",
  capabilities: ["chat", "tools", "interrupts", "subagents"],
  commands: [],
  suggestions: ["Refund order 1042 and tell the customer by email", "File a record of order 1042"],
  inputSchema: conversationInputSchema,
  outputSchema: z.object({ messages, todos: todosSchema.optional(), files: filesSchema.optional() }),
  subgraphs: { clerk: { messages: "messages", files: "files" } },
  create: createApproverGraph,
};
