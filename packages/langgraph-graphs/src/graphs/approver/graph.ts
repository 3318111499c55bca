import { modelContextSchema } from "@throughline/langgraph-models";
import { createDeepAgent } from "deepagents";
import type { GraphDeps, RunnableGraph } from "../graph-definition.js";
import { persistence } from "../persistence.js";
import { ConfiguredModel } from "../researcher/configured-model.js";
import { ResearcherState } from "../researcher/researcher-state.js";
import { approverScript, clerkScript } from "./script.js";
import { fileRecord, lookUpOrder, refundOrder, sendEmail } from "./tools.js";

const INSTRUCTIONS = `You look after orders. Look the order up before anything else. Refund and email in one message where
both are wanted. Then have the clerk file a record, and say what became of it.`;

const CLERK_INSTRUCTIONS =
  "You are a clerk. File the record that the task names, once, and say that it is filed.";

/** A deep agent whose dangerous tools wait for a person: two of its own in one batch, and one of its subagent's. */
export function createApproverGraph(deps: GraphDeps): RunnableGraph {
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
