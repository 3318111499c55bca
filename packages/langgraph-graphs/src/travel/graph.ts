import { randomUUID } from "node:crypto";
import { HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Command, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { createModel, modelContextSchema } from "@throughline/langgraph-models";
import { z } from "zod";
import {
  conversationInputSchema,
  type GraphDefinition,
  type GraphDeps,
  messageSchema,
  persistence,
  type RunnableGraph,
} from "../shared.js";
import { createExperiencesAgent, createFlightsAgent, createHotelsAgent } from "./agents.js";
import { supervisorScript } from "./script.js";
import { DELEGATE_TOOL, delegateArgsSchema, TRAVEL_STAGES, type TravelStage } from "./travel-stage.js";
import { itinerarySchema, TravelInput, TravelState, type TravelStateValue } from "./travel-state.js";

function createTravelGraph(deps: GraphDeps): RunnableGraph {
  return new StateGraph({
    state: TravelState,
    input: TravelInput,
    output: TravelState,
    context: modelContextSchema,
  })
    .addNode("supervisor", createSupervisor(deps), { ends: [...SUPERVISOR_ENDS] })
    .addNode("flights_agent", createFlightsAgent())
    .addNode("hotels_agent", createHotelsAgent())
    .addNode("experiences_agent", createExperiencesAgent(deps))
    .addEdge(START, "supervisor")
    .addEdge("flights_agent", "supervisor")
    .addEdge("hotels_agent", "supervisor")
    .addEdge("experiences_agent", "supervisor")
    .compile({ name: "travel", ...persistence(deps) });
}

const AGENT_OF_STAGE = {
  flights: "flights_agent",
  hotels: "hotels_agent",
  experiences: "experiences_agent",
} as const satisfies Record<TravelStage, string>;

const SUPERVISOR_ENDS = [...Object.values(AGENT_OF_STAGE), "supervisor", END] as const;

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
function createSupervisor(deps: GraphDeps) {
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

const messages = z.array(messageSchema);

export const travelDefinition: GraphDefinition = {
  graphName: "travel",
  name: "Travel planner",
  description: "Plans a trip with three agents, and asks you which flight and which hotel to take.",
  capabilities: ["chat", "tools", "interrupts", "subgraphs"],
  commands: [],
  suggestions: ["Plan a trip from Amsterdam to San Francisco"],
  inputSchema: conversationInputSchema,
  outputSchema: z.object({
    messages,
    origin: z.string(),
    destination: z.string(),
    itinerary: itinerarySchema,
  }),
  subgraphs: {
    flights_agent: { messages: "messages", output: ["itinerary"] },
    hotels_agent: { messages: "messages", output: ["itinerary"] },
    experiences_agent: { messages: "messages", output: ["itinerary"] },
  },
  create: createTravelGraph,
};
