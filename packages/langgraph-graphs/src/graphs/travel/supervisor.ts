import { randomUUID } from "node:crypto";
import { HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Command, END, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { createModel } from "@throughline/langgraph-models";
import type { GraphDeps } from "../graph-definition.js";
import { supervisorScript } from "./script.js";
import { DELEGATE_TOOL, delegateArgsSchema, TRAVEL_STAGES, type TravelStage } from "./travel-stage.js";
import type { TravelStateValue } from "./travel-state.js";

const AGENT_OF_STAGE = {
  flights: "flights_agent",
  hotels: "hotels_agent",
  experiences: "experiences_agent",
} as const satisfies Record<TravelStage, string>;

export const SUPERVISOR_ENDS = [...Object.values(AGENT_OF_STAGE), "supervisor", END] as const;

const INSTRUCTIONS = `You plan a trip with three agents: flights, hotels and experiences.
Call ${DELEGATE_TOOL} to hand over the next part that is missing from the itinerary, one part at a time, in that order.
When nothing is missing, sum the trip up in a few sentences, or answer what the traveller asks.
Hand over a part that is already planned only when the traveller asks to change it or to start over.
The agents know one route, from Amsterdam to San Francisco. Asked for another, hand nothing over and say so.`;

const DELEGATE = {
  name: DELEGATE_TOOL,
  description: "Hand the next part of the trip to the agent that plans it.",
  schema: delegateArgsSchema,
};

/** Routes by a model call: a `delegate` call names the next agent, plain text ends the turn. */
export function createSupervisor(deps: GraphDeps) {
  return async (state: TravelStateValue, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, { keys: deps.keys, offline: supervisorScript(state) });
    const bound = model.bindTools?.([DELEGATE]) ?? model;
    const answer = await bound.invoke([...promptOf(state)], config);
    const [first, ...rest] = answer.tool_calls ?? [];
    if (first === undefined) return new Command({ goto: END, update: { messages: [answer] } });

    const stage =
      first.name === DELEGATE_TOOL ? delegateArgsSchema.safeParse(first.args).data?.agent : undefined;
    const results = [
      toolResult(
        first.id,
        stage
          ? `Handed over to the ${stage} agent.`
          : `No such agent. Call ${DELEGATE_TOOL} with one of: ${TRAVEL_STAGES.join(", ")}.`,
      ),
      ...rest.map((call) => toolResult(call.id, "Not done: one part at a time.")),
    ];
    return new Command({
      goto: stage ? AGENT_OF_STAGE[stage] : "supervisor",
      update: { messages: [answer, ...results] },
    });
  };
}

/** The itinerary comes last and from the user's side: some providers refuse a prompt that ends with the assistant. */
function promptOf(state: TravelStateValue) {
  const { origin, destination, itinerary, messages } = state;
  const note = `Trip: ${origin} to ${destination}. Itinerary so far: ${JSON.stringify(itinerary)}. What is next?`;
  return [new SystemMessage(INSTRUCTIONS), ...messages, new HumanMessage(note)];
}

function toolResult(callId: string | undefined, content: string): ToolMessage {
  return new ToolMessage({ id: randomUUID(), tool_call_id: callId ?? "", name: DELEGATE_TOOL, content });
}
