import { z } from "zod";
import type { GraphDefinition } from "../graph-definition.js";
import { conversationInputSchema, messageSchema } from "../message-schema.js";
import { createTravelGraph } from "./graph.js";
import { itinerarySchema } from "./travel-state.js";

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
