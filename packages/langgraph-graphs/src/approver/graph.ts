import { tool } from "@langchain/core/tools";
import { modelContextSchema } from "@throughline/langgraph-models";
import { createDeepAgent } from "deepagents";
import { z } from "zod";
import { ConfiguredModel } from "../researcher/graph.js";
import { filesSchema, ResearcherState, todosSchema } from "../researcher/researcher-state.js";
import {
  conversationInputSchema,
  type GraphDefinition,
  type GraphDeps,
  messageSchema,
  persistence,
  type RunnableGraph,
} from "../shared.js";
import { approverScript, clerkScript } from "./script.js";

const INSTRUCTIONS = `You look after orders. Look the order up before anything else. Refund and email in one message where
both are wanted. Then have the clerk file a record, and say what became of it.`;

const CLERK_INSTRUCTIONS =
  "You are a clerk. File the record that the task names, once, and say that it is filed.";

/** A deep agent whose dangerous tools wait for a person: two of its own in one batch, and one of its subagent's. */
function createApproverGraph(deps: GraphDeps): RunnableGraph {
  const { keys } = deps;
  return createDeepAgent({
    contextSchema: modelContextSchema,
    name: "approver",
    model: new ConfiguredModel({ keys, offline: approverScript }),
    systemPrompt: INSTRUCTIONS,
    stateSchema: ResearcherState,
    tools: [lookUpOrder, refundOrder, sendEmail],
    interruptOn: {
      refund_order: true,
      send_email: { allowedDecisions: ["approve", "reject"], description: "An email to a customer." },
    },
    subagents: [
      {
        name: "clerk",
        description: "Files records.",
        systemPrompt: CLERK_INSTRUCTIONS,
        model: new ConfiguredModel({ keys, offline: clerkScript }),
        tools: [fileRecord],
        interruptOn: { file_record: true },
      },
    ],
    ...persistence(deps),
  }).graph;
}

/** Free: it only reads. */
const lookUpOrder = tool(
  ({ order }) => JSON.stringify({ order, customer: "ada@example.com", item: "Desk lamp", amount: 49 }),
  {
    name: "look_up_order",
    description: "Reads an order.",
    schema: z.object({ order: z.string() }),
  },
);

/** Gated: every decision is allowed. */
const refundOrder = tool(({ order, amount }) => `Refunded ${amount} EUR for order ${order}.`, {
  name: "refund_order",
  description: "Pays the price of an order back.",
  schema: z.object({ order: z.string(), amount: z.number() }),
});

/** Gated: may be approved or rejected as it is. */
const sendEmail = tool(({ to, subject }) => `Sent "${subject}" to ${to}.`, {
  name: "send_email",
  description: "Sends an email.",
  schema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
});

/** Gated, and only the clerk has it. */
const fileRecord = tool(({ title }) => `Filed "${title}".`, {
  name: "file_record",
  description: "Files a record for the auditors.",
  schema: z.object({ title: z.string() }),
});

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
