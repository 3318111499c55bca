import { type BaseMessage, HumanMessage, isAIMessage } from "@langchain/core/messages";
import { z } from "zod";

/** The parts of a trip in the order they are planned; each belongs to the agent `{stage}_agent`. */
export const TRAVEL_STAGES = ["flights", "hotels", "experiences"] as const;
export type TravelStage = (typeof TRAVEL_STAGES)[number];

export const DELEGATE_TOOL = "delegate";
export const delegateArgsSchema = z.object({
  agent: z.enum(TRAVEL_STAGES).describe("The agent that plans the next part of the trip."),
});

/** The stages handed out since the person last spoke. */
export function stagesOfThisTurn(messages: readonly BaseMessage[]): readonly TravelStage[] {
  const asked = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  return messages
    .slice(asked + 1)
    .flatMap((message) => (isAIMessage(message) ? (message.tool_calls ?? []) : []))
    .filter((call) => call.name === DELEGATE_TOOL)
    .flatMap((call) => delegateArgsSchema.safeParse(call.args).data?.agent ?? []);
}
